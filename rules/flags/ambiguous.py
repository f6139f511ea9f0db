"""A shortened flag that could mean several.

## Why
The engine's parser takes a prefix for the flag that it begins, as long as there is only one. A new release adds a flag with
the same
beginning, and the short form that worked is refused.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { pp = 2 }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { pp-size = 2 }
```

## Fix
None: which flag is meant is a judgement.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems, quoted
from preflight.rule import rule

META = Rule("FLG005", "ambiguous-flag", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "ambiguous"):
        could = quoted(problem.data.get("candidates", ()), 4)
        fact = f"{problem.typed} is refused: in {launch.engine.title} {launch.version.text} it could be {could}."
        yield finding(launch, problem, fact, "Write the flag in full.")
