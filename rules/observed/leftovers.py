"""Other processes hold GPU memory before the launch.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
SGLang takes what is free before loading for the whole: every GiB that a leftover holds is missing from weights and KV cache
together. A server that was killed can leave children that hold its memory.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("OBS005", "leftovers", WARNING)
