"""`--dp-size N --enable-dp-attention` is the old way to ask for attention groups.

## What it does
Reports enable-dp-attention in releases that have attn-dp-size.

## Why
From 0.5.23 on attn-dp-size counts attention groups and dp-size counts whole replicas. The old pair is still read, as
attn-dp-size N and dp-size 1, with a deprecation warning.

## Source
sglang 0.5.23 srt/arg_groups/parallel_hook.py `handle_deprecated_dp_attention`.
"""

from preflight.diagnostics import SAFE
from preflight.engines.steps import FILE, SETS, WARNS, Row, Set, Topic

TOPIC = Topic("PAR004", "deprecated-dp-attention", "sglang", "early")

ROWS = (
    Row(
        "P6",
        WARNS,
        when=lambda s: s.enable_dp_attention and s.attn_dp_size == 1 and s.dp_size > 1,
        versions="0.5.23..",
        says="enable-dp-attention with dp-size {dp_size} is deprecated: it means attn-dp-size {dp_size} and dp-size 1. Write "
        "--attn-dp-size {dp_size} in place of both.",
        at="enable-dp-attention",
        fix=((Set("attn-dp-size", lambda s: s.dp_size, SAFE), Set("dp-size", None), Set("enable-dp-attention", None)),),
        source="srt/arg_groups/parallel_hook.py handle_deprecated_dp_attention",
        bad="--tp-size 8 --dp-size 8 --enable-dp-attention @ 0.5.23 8x-h200 deepseek-v3",
        good="--tp-size 8 --attn-dp-size 8 @ 0.5.23 8x-h200 deepseek-v3",
        order=10,
    ),
    Row(
        "P6-moves",
        SETS,
        when=lambda s: s.enable_dp_attention and s.attn_dp_size == 1,
        versions="0.5.23..",
        sets=("attn-dp-size", "dp-size", "enable-dp-attention"),
        value=lambda s: (s.dp_size, 1, False),
        origin=FILE,
        source="srt/arg_groups/parallel_hook.py handle_deprecated_dp_attention",
        order=11,
    ),
    Row(
        "P6-resets",
        SETS,
        when=lambda s: bool(s.enable_dp_attention),
        versions="0.5.23..",
        sets="enable-dp-attention",
        value=False,
        source="srt/arg_groups/parallel_hook.py handle_deprecated_dp_attention",
        order=12,
    ),
)
