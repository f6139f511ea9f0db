"""A value that its key does not take.

## What it does
Reports values of the right type that are none of those a key has, such as an unknown engine or interconnect, a
compute capability that is not two numbers, or an empty text.

## Why
The value would have to be ignored. What it was to say, for instance that GPUs are joined by NVLink, decides which
buffers exist and what they take.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { gpu = "h200", count = 8, interconnect = "nv-link" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { gpu = "h200", count = 8, interconnect = "nvlink" }
```

## Fix
Unsafe where one known value is near: sets that.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG010", "bad-value", ERROR)
