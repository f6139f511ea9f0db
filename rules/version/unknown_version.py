"""The engine is older or newer than all releases that are known here.

## What it does
Compares the version of a launch with the first and the last release of the flag history.

## Why
An older release is not judged by flags that came later. For a newer one the newest known release answers, which is right for
most of it: findings are warnings at most. `preflight catalog add` makes a release known from its wheel.

## Example
```toml bad
engine = "sglang"
engine-version = "0.99.0"
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
```

## Fix
None.

## Source
schemas/flags/sglang.json.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("VER002", "unknown-version", WARNING)
