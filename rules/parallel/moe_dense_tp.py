"""moe-dense-tp-size has few values.

## What it does
Checks moe-dense-tp-size.

## Why
The dense layers of a mixture-of-experts model are either shared by all ranks or by none: SGLang takes 1, from 0.5.15
on also tp-size, and refuses anything else.

## Source
sglang srt/server_args.py `check_server_args`, 0.4.6.post5 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("PAR008", "moe-dense-tp-size-value", "sglang", "checks")

ROWS = (
    Row(
        "P15",
        REFUSES,
        when=lambda s: s.moe_dense_tp_size not in (None, 1),
        versions="..0.5.12",
        says="moe-dense-tp-size {moe_dense_tp_size} is not supported. Use 1, or take it out.",
        at="moe-dense-tp-size",
        fix=(Set("moe-dense-tp-size", 1),),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 8 --moe-dense-tp-size 2 @ 0.5.9 8x-h200 deepseek-v3",
        good="--moe-dense-tp-size 1",
    ),
    Row(
        "P15-tp",
        REFUSES,
        when=lambda s: s.moe_dense_tp_size not in (None, 1) and s.moe_dense_tp_size != s.tp_size,
        versions="0.5.15..",
        says="moe-dense-tp-size {moe_dense_tp_size} is not supported. Use 1 or tp-size ({tp_size}), or take it out.",
        at="moe-dense-tp-size",
        fix=(Set("moe-dense-tp-size", 1),),
        source="srt/arg_groups/validation_hook.py check_server_args",
        bad="--tp-size 8 --moe-dense-tp-size 2 @ 0.5.23 8x-h200 deepseek-v3",
        good="--moe-dense-tp-size 8",
    ),
)
