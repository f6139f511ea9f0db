"""The same key twice in one table.

## What it does
Reports the second place and points at the first. Nothing else of the file is checked.

## Why
TOML forbids it: there is no rule that says which of the two holds, so no program can read the file.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"

[flags]
tp-size = 8
mem-fraction-static = 0.85
tp-size = 4
```
```toml good
engine = "sglang"
engine-version = "0.5.9"

[flags]
tp-size = 8
mem-fraction-static = 0.85
```

## Fix
None: only the author knows which of the two was meant.

## Source
TOML 1.0, section Keys.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG004", "duplicate-key", ERROR)
