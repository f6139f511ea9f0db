"""GPUs are counted from zero, in steps of at least one.

## What it does
Checks base-gpu-id and gpu-id-step.

## Why
Rank i of a node takes GPU base-gpu-id + i × gpu-id-step. A negative base or a step of zero is refused.

## Source
sglang srt/server_args.py `check_server_args`, 0.4.6.post5 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("PAR009", "gpu-number-out-of-range", "sglang", "checks")

ROWS = (
    Row(
        "P16-base",
        REFUSES,
        when=lambda s: s.base_gpu_id is not None and s.base_gpu_id < 0,
        says="base-gpu-id is {base_gpu_id}. GPUs are counted from 0.",
        at="base-gpu-id",
        fix=(Set("base-gpu-id", 0),),
        source="srt/server_args.py check_server_args",
        bad="--base-gpu-id -1 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--base-gpu-id 4",
    ),
    Row(
        "P16-step",
        REFUSES,
        when=lambda s: s.gpu_id_step < 1,
        says="gpu-id-step is {gpu_id_step}. Use 1 or more.",
        at="gpu-id-step",
        fix=(Set("gpu-id-step", 1),),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 2 --gpu-id-step 0 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--gpu-id-step 2",
    ),
)
