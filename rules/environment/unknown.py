"""An environment variable that the engine does not have.

## Why
Nothing complains of a variable that nobody reads: a misspelt one is silently without effect. A name counts as known when the
release registers it, reads it or only mentions it anywhere in its source, kernels included, so that what is reported here is in
no file of the release.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_JIT_DEEPGEM = "0" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_JIT_DEEPGEMM = "0" }
```

## Fix
Unsafe: renames it to the nearest name.

## Source
schemas/flags/sglang-env.json, read from the releases' own source.
"""

from collections.abc import Iterator

from preflight.diagnostics import NOTE, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.environment import renamed, strangers
from preflight.flags import official
from preflight.rule import rule

META = Rule("ENV001", "unknown-variable", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for variable, table, history in strangers(launch):
        if history is not None:
            continue
        proper = "SGLANG_" + variable.name.removeprefix("SGL_")
        near = (proper,) if variable.name.startswith("SGL_") and table.get(proper) else table.nearest(variable.name)
        remedy = f"Did you mean {near[0]}?" if near else "Remove it."
        yield Finding(
            f"No file of {launch.engine.title} {launch.version.text} mentions {variable.name}: nobody reads it. {remedy}",
            variable.name_place,
            severity=WARNING if near or official(launch) else NOTE,
            fixes=renamed(variable, near[0]) if near else (),
            data={"variable": variable.name},
        )
