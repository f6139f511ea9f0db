"""A GPU has less memory than its profile declares.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
Engines take the smallest total of all GPUs of the machine for their own choices, a display card's included.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("OBS003", "less-memory", WARNING)
