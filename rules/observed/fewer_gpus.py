"""The machine has fewer GPUs than its profile declares.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
A launch that takes a GPU for every rank dies where one is missing: a card fell off the bus, or CUDA_VISIBLE_DEVICES hides it from
the process that asked.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("OBS001", "fewer-gpus", ERROR)
