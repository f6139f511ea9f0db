"""A log shows a figure that cannot be this server's own.

## What it does
Reports negative memory usage, and more free memory after loading than before it.

## Why
Usage is the difference of two readings of the GPU's free memory. It is negative when another process released memory
between them: an earlier server that was still ending, or one that shares the GPU. Nothing can be calibrated from such a
boot, and an engine that sizes its KV cache by it takes memory that is not there next time.

## Example
`Load weight end. … avail mem=60.10 GB, mem usage=-12.40 GB.`

## Fix
None: start the server while nothing else uses the GPU. `nvidia-smi` shows the processes.

## Source
sglang 0.5.9 srt/model_executor/model_runner.py, the lines before and after loading.
"""

from preflight.diagnostics import WARNING, Rule

META = Rule("OBS012", "impossible-figure", WARNING)
