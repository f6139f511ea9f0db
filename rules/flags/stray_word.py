"""A word that belongs to no flag.

## Why
The server takes no positional arguments (but `sglang serve MODEL` in releases that have it). A word that no flag takes is a
usage error; often
a value was quoted wrongly, or a flag lost its dashes.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { served-model-name = ["a", "b"] }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { served-model-name = "a" }
```

## Fix
None: what the word was meant for is a judgement.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems, short
from preflight.rule import rule

META = Rule("FLG010", "stray-word", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "stray-positional"):
        if problem.data.get("switch") is None:
            value = problem.data.get("value")
            yield finding(
                launch,
                problem,
                f"{short(value)} belongs to no flag and is refused.",
                "Remove it, or write the flag that it is for.",
            )
