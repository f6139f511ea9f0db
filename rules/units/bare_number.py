"""An amount of memory without a unit.

## What it does
Reports a number, or a text with a number alone, where an amount of memory belongs.

## Why
Boot logs print GB and mean GiB, nvidia-smi prints MiB, data sheets print GB and mean 10^9 bytes. 96 GB is 89.4 GiB:
enough to turn a launch that fits into one that does not. So a number is never given a unit silently.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
observed = { free-before-load = 94.0 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
observed = { free-before-load = "94.0 GiB" }
```

## Fix
Display for small numbers, which may be GiB or GB. Unsafe for numbers of the size that nvidia-smi prints in MiB.

## Source
nvidia-smi: memory.total in MiB. SGLang prints bytes / 2^30 as GB: 0.5.9 srt/utils/common.py.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("UNT005", "bare-number-for-quantity", ERROR)
