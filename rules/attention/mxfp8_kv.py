"""kv-cache-dtype mxfp8 needs Blackwell.

## What it does
Checks kv-cache-dtype mxfp8 against the GPU.

## Why
The block-scaled operands that the mxfp8 attention path reads exist from compute capability 10.0 on.

## Source
sglang 0.5.18 to 0.5.23 `handle_mxfp8_kv_cache_compatibility` (0.5.20: srt/arg_groups/kv_cache_hook.py).
"""

from preflight.engines.sglang.facts import blackwell
from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("ATT009", "mxfp8-kv-needs-blackwell", "sglang", "kv-dtype")

ROWS = (
    Row(
        "A24",
        REFUSES,
        when=lambda s: s.kv_cache_dtype == "mxfp8" and not blackwell(s),
        versions="0.5.18..",
        says="kv-cache-dtype mxfp8 needs a Blackwell GPU; this one has compute capability {gpu__compute_capability}. Use "
        "fp8_e4m3 or auto.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "fp8_e4m3"),),
        source="srt/arg_groups/kv_cache_hook.py handle_mxfp8_kv_cache_compatibility",
        bad="--kv-cache-dtype mxfp8 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--kv-cache-dtype fp8_e4m3",
    ),
)
