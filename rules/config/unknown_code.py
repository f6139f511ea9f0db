"""A code that no rule has.

## What it does
Reports codes and names in suppressions, and in the settings, that preflight does not know, with the nearest one. In
the settings it is an error: a selection that means nothing must not pass as one that means something.

## Why
A misspelled code hides nothing and selects nothing.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
# preflight: ignore[MEN001] checked by hand
flags = { tp-size = 8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
# checked by hand
flags = { tp-size = 8 }
```

## Fix
None: `preflight rule` lists all codes.

## Source
preflight's own documentation, suppression.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG009", "unknown-code", ERROR)
