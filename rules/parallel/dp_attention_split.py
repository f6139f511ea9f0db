"""The tensor-parallel ranks do not divide into DP attention groups.

## What it does
Checks that tp-size is a multiple of the number of attention groups: dp-size with enable-dp-attention up to 0.5.20,
attn-dp-size from 0.5.23 on.

## Why
DP attention splits the tp-size ranks of a stage into equal groups. Where they do not divide, SGLang stops with an
assertion that has no text, so that the boot log names neither flag.

## Source
sglang srt/server_args.py `_handle_data_parallelism`, 0.4.6.post5 to 0.5.18; srt/arg_groups/parallel_hook.py, 0.5.20
and 0.5.23.
"""

from preflight.engines.sglang.facts import largest_divisor, splits
from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("PAR002", "dp-attention-does-not-divide-tp", "sglang", "data-parallel")

ROWS = (
    Row(
        "P2",
        REFUSES,
        when=lambda s: s.enable_dp_attention and not splits(s.tp_size, s.dp_size),
        versions="..0.5.20",
        says="dp-size {dp_size} with enable-dp-attention does not divide tp-size {tp_size}. Use a divisor of {tp_size}.",
        at="dp-size",
        fix=(Set("dp-size", lambda s: largest_divisor(s.tp_size, s.dp_size)),),
        source="srt/server_args.py _handle_data_parallelism",
        bad="--tp-size 8 --dp-size 3 --enable-dp-attention @ 0.5.9 8x-h200 deepseek-v3",
        good="--dp-size 4",
        order=40,
    ),
    Row(
        "P2-attn",
        REFUSES,
        when=lambda s: s.attn_dp_size > 1 and not splits(s.tp_size, s.attn_dp_size),
        versions="0.5.23..",
        says="{attn_dp_size} attention groups do not divide tp-size {tp_size}. Use a divisor of {tp_size}.",
        at="attn-dp-size",
        fix=(Set("attn-dp-size", lambda s: largest_divisor(s.tp_size, s.attn_dp_size)),),
        source="srt/arg_groups/parallel_hook.py handle_data_parallelism",
        bad="--tp-size 8 --attn-dp-size 3 @ 0.5.23 8x-h200 deepseek-v3",
        good="--attn-dp-size 4",
        order=40,
    ),
    Row(
        "P2-before",
        REFUSES,
        when=lambda s: s.enable_dp_attention and s.dp_size <= 1,
        versions="..0.4.10",
        says="enable-dp-attention needs a dp-size above 1 in this release; here it is {dp_size}. Set dp-size, up to tp-size.",
        at="enable-dp-attention",
        fix=(Set("enable-dp-attention", None),),
        source="srt/server_args.py __post_init__",
        bad="--tp-size 8 --enable-dp-attention @ 0.4.10 8x-h200 deepseek-v3",
        good="--dp-size 8",
        order=40,
    ),
)
