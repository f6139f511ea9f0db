"""A unit of memory that does not exist.

## What it does
Reports a unit other than B, KiB, MiB, GiB, TiB, kB, MB, GB and TB, in any case of letters.

## Why
"94 G" is 94 GiB to some programs and 94 GB to others; the two are 7 % apart. preflight does not choose.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
observed = { free-before-load = "94 G" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
observed = { free-before-load = "94 GiB" }
```

## Fix
None: write the unit that the source of the figure means.

## Source
IEC 80000-13 for the binary units.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("UNT007", "unknown-unit", ERROR)
