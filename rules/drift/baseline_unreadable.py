"""The baseline of a launch cannot be compared with.

## What it does
Reports a `[baseline] log` that does not exist, shows no boot, or is of another engine or model.

## Why
Whoever names a baseline wants to be told of drift. Silence would look like "nothing has changed".

## Example
```toml bad
engine = "sglang"
model = { profile = "kimi-k2.5-int4" }
flags = { tp-size = 8 }
baseline = { log = "boots/last-good.log" }
```
```toml good
engine = "sglang"
model = { profile = "kimi-k2.5-int4" }
flags = { tp-size = 8 }
```

## Fix
None. The path is relative to the file that names it.

## Source
preflight's own documentation, `preflight schema launch`.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("DRF001", "baseline-unreadable", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    log = launch.tables.get("baseline", {}).get("log")
    if log is None:
        return
    from preflight.drift.baseline import NoBaseline, drift

    found = drift(launch)
    if isinstance(found, NoBaseline):
        yield Finding(f"{found.message} Name the log of a boot of this launch that worked.", log.place)
