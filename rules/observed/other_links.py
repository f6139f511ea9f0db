"""The GPUs are joined otherwise than the profile declares.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
Custom all-reduce and its relatives want NVLink between all pairs; over PCIe NCCL serves instead, and buffers of another size are
taken before loading.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("OBS008", "other-links", WARNING)
