"""A flag that the engine is about to drop.

## Why
The server starts and logs a warning, which nobody reads. A later release refuses the flag.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { disable-cuda-graph = true }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { cuda-graph-backend-decode = "disabled", cuda-graph-backend-prefill = "disabled" }
```

## Fix
Safe where the flag was only renamed.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import STALE, place, problems, successor_fixes, successor_text
from preflight.rule import rule

META = Rule("FLG004", "deprecated-flag", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "deprecated"):
        if problem.typed in STALE:  # it is another flag's beginning here, and another rule's business
            continue
        since = f" since {problem.deprecated}" if problem.deprecated else ""
        yield Finding(
            f"{problem.typed} is deprecated{since}; a later {launch.engine.title} will refuse it. {successor_text(problem)}",
            place(launch, problem),
            fixes=successor_fixes(launch, problem),
            data={"flag": problem.typed},
        )
