"""The driver is older than the CUDA toolkit needs.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
The first CUDA call of the engine fails, after the image was pulled and the pod scheduled.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("OBS007", "driver-too-old", ERROR)
