"""A GPU is divided into MIG slices.

## What it does
`preflight profile hardware --against PROFILE` compares the machine, live or from saved output of nvidia-smi or rocm-smi
(`--from FILE`), with a declared profile.

## Why
A process sees one slice, whose memory is smaller than the board's, and slices have no links between them.

## Example
`preflight profile hardware --from nvidia-smi.txt --against 8x-h200` on a machine that differs so.

## Fix
None: the profile or the machine is to be corrected.

## Source
preflight/hardware/compare.py, which names the source of each bound.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("OBS004", "sliced-gpu", WARNING)
