"""A key that a launch file or the settings do not have.

## What it does
Reports keys and tables that preflight does not know, with the nearest known one. Keys of [flags] are not meant: those
belong to the engine (FLG001).

## Why
A misspelled key says nothing to anybody. `gpu-count = 8` leaves the number of GPUs unknown, and every check that
needs it silent.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200", interconect = "nvlink" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200", interconnect = "nvlink" }
```

## Fix
Unsafe: renames the key to the nearest known one. What was unread until now is read then.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("CFG002", "unknown-key", WARNING)
