"""Data-parallel replicas over several nodes need DP attention.

## What it does
Checks dp-size above 1 with nnodes above 1.

## Why
The launcher of one server can start replicas on its own node only. Over several nodes DP attention does the
splitting; whole replicas are servers of their own behind a router.

## Source
sglang srt/server_args.py `check_server_args`, 0.4.6.post5 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("PAR006", "replicas-span-nodes", "sglang", "checks")

ROWS = (
    Row(
        "P9",
        REFUSES,
        when=lambda s: s.dp_size > 1 and s.nnodes != 1 and not s.enable_dp_attention,
        says="dp-size {dp_size} over {nnodes} nodes is supported with DP attention only. Turn it on, or start one server a "
        "replica.",
        at="dp-size",
        fix=(Set("dp-size", 1),),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 8 --dp-size 2 --nnodes 2 --dist-init-addr 10.0.0.1:5000 @ 0.5.9 8x-h200 deepseek-v3",
        good="--dp-size 1",
    ),
)
