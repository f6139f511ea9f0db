"""FlashAttention 3 does not read fp8_e5m2.

## What it does
Reports fa3, given or chosen by default, with kv-cache-dtype fp8_e5m2.

## Why
fa3 reads fp8_e4m3 only, so SGLang replaces the backend by triton, which is slower on Hopper. fp8_e4m3 keeps fa3 and
is the more precise of the two formats.

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.5.5.post3 to 0.5.12;
srt/arg_groups/overrides.py `_attention_backend_fa3_fp8_fallback`, 0.5.15 to 0.5.23.
"""

from preflight.diagnostics import WARNING
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("ATT005", "fa3-with-fp8-e5m2", "sglang", "attention")

ROWS = (
    Row(
        "A11",
        SETS,
        when=lambda s: s.kv_cache_dtype == "fp8_e5m2" and s.attention_backend == "fa3",
        versions="0.5.5..",
        sets="attention-backend",
        value="triton",
        says="fa3 does not read an fp8_e5m2 KV cache, so the attention backend becomes triton. Use kv-cache-dtype fp8_e4m3 to "
        "keep fa3.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "fp8_e4m3"),),
        source="srt/server_args.py _handle_attention_backend_compatibility",
        bad="--tp-size 8 --kv-cache-dtype fp8_e5m2 @ 0.5.9 8x-h200 llama-3.1-8b",
        good="--kv-cache-dtype fp8_e4m3",
        order=50,
        severity=WARNING,
    ),
)
