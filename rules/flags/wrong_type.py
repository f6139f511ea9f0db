"""A value that is not of the flag's type.

## Why
The parser converts each value: a count has to be an integer, a fraction a number, JSON has to be JSON. Anything else is a
usage error.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = "eight" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = 8 }
```

## Fix
None: what was meant is a judgement.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems, short
from preflight.rule import rule

META = Rule("FLG006", "wrong-value-type", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "wrong-type"):
        value, expected = problem.data.get("value"), problem.data.get("expected")
        yield finding(launch, problem, f"{problem.typed} takes {expected}; {short(value)} is none.", "Write one.")
