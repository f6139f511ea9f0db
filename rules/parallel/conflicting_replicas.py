"""Replicas and attention groups cannot be combined.

## What it does
Checks attn-dp-size against dp-size, and that it is at least 1.

## Why
Whole replicas (dp-size) of a model whose attention is itself spread over groups (attn-dp-size) are not supported.

## Source
sglang 0.5.23 srt/arg_groups/parallel_hook.py `handle_data_parallelism`.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("PAR005", "replicas-with-attention-groups", "sglang", "data-parallel")

ROWS = (
    Row(
        "P8",
        REFUSES,
        when=lambda s: s.attn_dp_size < 1,
        versions="0.5.23..",
        says="attn-dp-size is {attn_dp_size}. It counts attention groups: use 1 or more.",
        at="attn-dp-size",
        fix=(Set("attn-dp-size", 1),),
        source="srt/arg_groups/parallel_hook.py handle_data_parallelism",
        bad="--tp-size 8 --attn-dp-size 0 @ 0.5.23 8x-h200 deepseek-v3",
        good="--attn-dp-size 2",
        order=10,
    ),
    Row(
        "P7",
        REFUSES,
        when=lambda s: s.attn_dp_size > 1 and s.dp_size > 1,
        versions="0.5.23..",
        says="dp-size {dp_size} replicas cannot be combined with attn-dp-size {attn_dp_size}. Set dp-size to 1 and start "
        "replicas as "
        "servers of their own.",
        at="dp-size",
        fix=(Set("dp-size", 1),),
        source="srt/arg_groups/parallel_hook.py handle_data_parallelism",
        bad="--tp-size 4 --dp-size 2 --attn-dp-size 2 @ 0.5.23 8x-h200 deepseek-v3",
        good="--dp-size 1",
        order=11,
    ),
)
