"""MXFP8 replaces the MoE runner.

## What it does
Finds a `moe-runner-backend` that `quantization mxfp8` does not take.

## Why
MXFP8 experts have kernels in a few runners: CUTLASS in 0.5.9, later also TensorRT-LLM and DeepGEMM. Another runner is
replaced with a warning.

## Fix
Safe: without the flag SGLang takes the same runner.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/overrides.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.experts import mxfp8_runners
from preflight.engines.sglang.facts import quantization
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("QNT005", "mxfp8-replaces-moe-runner", "sglang", "moe")

ROWS = (
    Row(
        "Q6",
        SETS,
        when=lambda s: quantization(s) == "mxfp8" and s.moe_runner_backend not in ("auto", *mxfp8_runners(s)[0]),
        versions="0.5.9..",
        sets="moe-runner-backend",
        value=lambda s: mxfp8_runners(s)[1],
        says="quantization mxfp8 sets moe-runner-backend to {moe_runner_backend}. Leave the flag out.",
        fix=(Set("moe-runner-backend", None, SAFE),),
        source="srt/arg_groups/overrides.py",
        order=11,
        bad="--quantization mxfp8 --moe-runner-backend triton @ 0.5.9 8x-b200 llama-3.1-8b",
        good="--no:moe-runner-backend",
    ),
)
