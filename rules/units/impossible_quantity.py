"""A figure that cannot be.

## What it does
Reports negative, infinite and undefined amounts, counts below the least that makes sense, memory of 0 bytes, and
amounts beyond any machine.

## Why
Such a figure comes from a subtraction gone wrong or a failed measurement. Any result built on it would be wrong as
well.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
observed = { free-after-load = "-20.6 GiB" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
observed = { free-after-load = "21.7 GiB" }
```

## Fix
None: take the figure from the log again, or remove the key.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("UNT006", "impossible-quantity", ERROR)
