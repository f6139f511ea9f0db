"""A suppression that hides nothing.

## What it does
Reports a code in `# preflight: ignore[…]` that no finding on the covered lines has, although its rule was run.

## Why
The mistake that it excused has been corrected, or the comment stands in the wrong place. Left there, it hides the
next mistake of the kind.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200" }
# preflight: ignore[CFG002] a key of a later release
flags = { tp-size = 8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200" }
flags = { tp-size = 8 }
```

## Fix
Safe: takes the code out, and with its last code the comment. A comment changes no launch.

## Source
preflight's own documentation, suppression.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("CFG007", "unused-suppression", WARNING)
