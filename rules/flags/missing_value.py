"""A flag without the value that it needs.

## Why
The parser wants a value behind the flag and finds another flag, or nothing.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = true }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = 8 }
```

## Fix
None: the value is missing.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems
from preflight.rule import rule

META = Rule("FLG008", "missing-value", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "missing-value"):
        expected = problem.data.get("expected")
        yield finding(launch, problem, f"{problem.typed} needs a value ({expected}) and has none.", "Write it behind the flag.")
