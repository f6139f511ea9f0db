"""A comment that looks meant for preflight and is not read.

## What it does
Reports comments such as `#preflight:ignore MEM001` or `# preflight: noqa`, a suppression without codes, and a word of
context that does not exist (`# preflight: hardwre=8x-h200`).

## Why
There is one spelling: `# preflight: ignore[CODE] reason`, `# preflight: ignore-file[CODE] reason`, and `# preflight:
hardware=… model=… version=…`. What is close to it and is not read leaves its author believing that it works.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
# preflight: ignore MEM001
flags = { tp-size = 8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
# one GPU is shared with the encoder
flags = { tp-size = 8 }
```

## Fix
None: the message shows the spelling that was probably meant.

## Source
preflight's own documentation, suppression.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("CFG008", "malformed-suppression", WARNING)
