"""A size or number that has to be at least 1 is not.

## Why
A parallel size, a page size or a number of token slots of 0 or less means nothing: SGLang divides by it, waits for ranks that are
never started, or fails in a place that does not speak of it. Nothing else is said of such a launch's sizes.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"

[flags]
tp-size = 0
```
```toml good
engine = "sglang"
engine-version = "0.5.9"

[flags]
tp-size = 1
```

## Fix
None: which number is meant is not known.

## Source
sglang 0.5.9 srt/server_args.py check_server_args, srt/entrypoints/engine.py (ranks per node).
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.engines.resolve import COUNTS
from preflight.rule import rule

META = Rule("FLG014", "count-below-one", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for use in launch.uses:
        if use.name in COUNTS and isinstance(use.value, int) and use.value < 1:
            yield Finding(f"{use.name} {use.value} is no count. Use 1 or more.", launch.place(use.name))
