"""A file that is not valid in its own format.

## What it does
Reports where reading stopped, and why. Nothing else of the file is checked, because nothing of it is certain.

## Why
A launch file that no parser accepts cannot be judged. Guessing at the rest of it would invent findings.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"

[flags]
model-path = "meta-llama/Llama-3.1-8B
tp-size = 8
```
```toml good
engine = "sglang"
engine-version = "0.5.9"

[flags]
model-path = "meta-llama/Llama-3.1-8B"
tp-size = 8
```

## Fix
None: only the author knows what was meant.

## Source
TOML 1.0 and 1.1, as tomli reads them.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG001", "syntax-error", ERROR)
