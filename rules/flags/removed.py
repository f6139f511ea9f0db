"""A flag that the engine no longer has.

## Why
A release removes flags that were deprecated long before, often many at once: a launch that only warned yesterday dies with a
usage
error today. What took the place of a removed flag is known for each.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { nsa-prefill-backend = "tilelang" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { dsa-prefill-backend = "tilelang" }
```

## Fix
Safe where the flag was only renamed, or where the engine now does it by itself.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems, successor_fixes, successor_text
from preflight.rule import rule

META = Rule("FLG002", "removed-flag", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "removed"):
        since = f"since {problem.removed}" if problem.removed else f"in {launch.version.text}"
        fact = f"{problem.typed} is gone {since} and {launch.engine.title} {launch.version.text} refuses it."
        yield finding(launch, problem, fact, successor_text(problem), successor_fixes(launch, problem))
