"""The machine has another kind of GPU than its profile declares.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
Kernels, formats and the automatic memory fraction go by the compute capability. What was checked for one kind says nothing of
another.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("OBS002", "other-gpu", ERROR)
