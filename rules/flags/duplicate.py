"""A flag that is given twice.

## Why
The last one wins and the other is silently dropped, so an edit of the first changes nothing.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = 4, tensor-parallel-size = 8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = 8 }
```

## Fix
Safe: takes out the one that is dropped anyway.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import SAFE, WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.flags import place, problems, removed
from preflight.rule import rule

META = Rule("FLG011", "duplicate-flag", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "duplicate"):
        last = launch.site.argv[int(problem.data["last"])].place
        typed = launch.site.argv[problem.first].value or problem.typed
        yield Finding(
            f"{typed.partition('=')[0]} is overridden by a later use of the same flag. Remove the earlier one.",
            place(launch, problem),
            related=(Related(last, "the one that counts"),),
            fixes=removed(launch, problem, f"Remove the earlier {typed.partition('=')[0]}", SAFE),
            data={"flag": problem.typed},
        )
