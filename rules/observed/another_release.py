"""The measured figures are of another release.

## What it does
Reports an [observed] table whose engine-version is not the launch's. Its figures are not used.

## Why
Releases differ in what they load, when, and what they count. A figure that was measured with one of them is a guess for
another, and would be taken for a fact.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB", engine-version = "0.5.9" }
flags = { tp-size = 8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB", engine-version = "0.5.9" }
flags = { tp-size = 8 }
```

## Fix
None: boot the new release once and run `preflight calibrate LOG --write FILE`.

## Source
preflight's own documentation, `preflight schema launch`.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.engines.resolve import of_another_release
from preflight.rule import rule

META = Rule("OBS013", "observed-of-another-release", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    table = launch.tables.get("observed", {})
    measured = of_another_release(table, launch.version)
    if measured is None:
        return
    yield Finding(
        f"[observed] was measured with {launch.engine.title} {measured} and this launch runs {launch.version.given}, so its "
        "figures are not used. Boot this release once and run `preflight calibrate LOG --write FILE`.",
        table["engine-version"].place,
    )
