"""The engine's version is no version.

## What it does
Checks the form of `engine-version`, of `# preflight: version=…`, and of the version that an image or a pin names.

## Why
Flags, defaults and formulas differ between releases. Without a version a launch is judged by the newest release that is known,
and what another release would accept is a warning only.

## Example
```toml bad
engine = "sglang"
engine-version = "the newest"
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
```

## Fix
None: the release is not known.

## Source
The numbers of the engines' releases, and ranges of them as in PEP 440.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("VER001", "not-a-version", ERROR)
