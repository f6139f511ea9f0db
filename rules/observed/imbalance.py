"""One GPU has much less free memory than another.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
With tensor parallelism SGLang refuses to start where a rank has less than nine tenths of another's free memory, and else goes by
the least.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("OBS006", "imbalance", ERROR)
