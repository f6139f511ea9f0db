"""The switch of the memory balance check, under a name that means the opposite.

## What it does
Reports SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK in the releases that copy its value, as it is, to
SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK.

## Why
Up to 0.5.5 the variable did what its name says. From 0.5.8 on SGLang renames it at start without turning its value around:
"1" keeps the check on, and "0" turns it off. A launch that relied on it stops where one GPU has much less free memory than
another.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK = "1" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK = "0" }
```

## Fix
Unsafe: gives it the new name and the opposite value.

## Source
sglang srt/environ.py of 0.5.8 to 0.5.15.
"""

from collections.abc import Iterator

from preflight.diagnostics import UNSAFE, WARNING, Finding, Fix, Rule
from preflight.engines.base import Launch
from preflight.environment import known, rename
from preflight.rule import rule

META = Rule("ENV005", "inverted-variable", WARNING)
_ON, _OFF = ("true", "1", "yes", "y"), ("false", "0", "no", "n")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for variable, entry in known(launch):
        new, text = entry.replaced_by, (variable.token.value or "").lower()
        if not variable.name.startswith("SGL_DISABLE_") or not new or "DISABLE" in new or text not in (*_ON, *_OFF):
            continue
        edits = (rename(variable, new), variable.token.replace("0" if text in _ON else "1"))
        fixes = (Fix(f"Rename {variable.name} to {new}", (edits[0], edits[1]), UNSAFE),) if edits[0] and edits[1] else ()
        yield Finding(
            f"{variable.name}={variable.token.value} is copied to {new} as it is, which "
            f"{'keeps the check on' if text in _ON else 'turns the check off'}. Set {new}={'0' if text in _ON else '1'}.",
            variable.name_place,
            fixes=fixes,
            data={"variable": variable.name},
        )
