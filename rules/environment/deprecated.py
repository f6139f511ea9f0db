"""An environment variable by a name that is going away.

## What it does
Reports names that the release still understands but warns of: names that got another one, names that a flag replaces, and names
that begin with SGL_, which are copied to the SGLANG_ name at start.

## Why
Such names disappear without a word in a later release. The copy of an SGL_ name also overwrites the SGLANG_ one, if both are
set.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { SGL_ENABLE_JIT_DEEPGEMM = "0" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_JIT_DEEPGEMM = "0" }
```

## Fix
Safe: renames it, where the new name means the same.

## Source
sglang srt/environ.py, from 0.5.3.
"""

from collections.abc import Iterator

from preflight.diagnostics import SAFE, UNSAFE, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.environment import given, known, renamed, same_unit
from preflight.rule import rule

META = Rule("ENV004", "deprecated-variable", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    names = given(launch)
    for variable, entry in known(launch):
        new = entry.replaced_by
        if not entry.deprecated or (new and ("DISABLE" in variable.name) != ("DISABLE" in new)):
            continue
        clash = bool(new and new in names)
        fact = f"{variable.name} is deprecated in {launch.engine.title} {launch.version.text}"
        fact += f" and overwrites {new}, which is set too." if clash and variable.name.startswith("SGL_") else "."
        same = bool(new and same_unit(variable.name, new))
        remedy = f"Set {new} instead" if new else f"Use {entry.flag} instead" if entry.flag else "Remove it"
        unit = ", in seconds." if new and not same else "."
        yield Finding(
            f"{fact} {remedy}{unit}",
            variable.name_place,
            fixes=renamed(variable, new, UNSAFE if entry.flag else SAFE) if new and same and not clash else (),
            data={"variable": variable.name},
        )
