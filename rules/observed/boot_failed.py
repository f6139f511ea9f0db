"""The log shows why a boot failed.

## What it does
Reads a boot log and says which condition stopped the server, with the figures that the log prints, and which direction
helps.

## Why
The message of an engine names one remedy, and it is not always the right one. What counts is when the server stopped:

- While the KV cache is sized, weights and the part that is kept back leave nothing: *raise* the memory fraction.
- After the pools were allocated (CUDA graphs, the first requests), memory that was never set aside is missing: *lower* it.
- While weights are loaded, they do not fit into what is free: the fraction changes nothing.

## Example
`preflight lint boot.log`, where the log ends with "Not enough memory" after `avail mem=94.00 GB` and `avail mem=21.70 GB`
and was started with `mem_fraction_static=0.55`: 42.3 GiB are kept back, -20.6 GiB are left, 0.7692 is the least that works.

## Fix
Shown only: a log is not edited. The remedy belongs in the launch that wrote it.

## Source
sglang 0.4.6 to 0.5.23 srt/model_executor and srt/mem_cache; vllm 0.12.0 to 0.33.0 v1/worker and v1/core.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("OBS010", "boot-failed", ERROR, "init")
