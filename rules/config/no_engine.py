"""A launch that names no engine.

## What it does
Reports a launch file in which neither the launch nor the top level has an `engine`.

## Why
Flags, defaults and memory arithmetic all belong to one engine. Without its name nothing can be checked, and silence
would look like approval.

## Example
```toml bad
flags = { tp-size = 8 }
```
```toml good
engine = "sglang"
flags = { tp-size = 8 }
```

## Fix
None: add `engine`, and `engine-version` where it is known.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG011", "no-engine", ERROR)
