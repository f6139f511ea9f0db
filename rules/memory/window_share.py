"""The share of the sliding-window pool is out of range.

## What it does
Checks swa-full-tokens-ratio and swa-prefix-tails.

## Why
swa-full-tokens-ratio is the size of the pool for sliding-window layers over that of full-attention layers: above 0,
at most 1. Tails that are kept for prefixes are counted from 0.

## Source
sglang srt/server_args.py `_handle_cache_compatibility`, 0.5.8 to 0.5.18; srt/arg_groups/kv_cache_hook.py,
0.5.20 and 0.5.23.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("MEM047", "window-share-out-of-range", "sglang", "cache")
_SOURCE = "srt/server_args.py _handle_cache_compatibility"

ROWS = (
    Row(
        "M10",
        REFUSES,
        when=lambda s: s.swa_full_tokens_ratio is not None and not 0 < s.swa_full_tokens_ratio <= 1,
        versions="0.5.8..",
        says="swa-full-tokens-ratio is {swa_full_tokens_ratio}. Use a share above 0 and up to 1.",
        at="swa-full-tokens-ratio",
        fix=(Set("swa-full-tokens-ratio", None),),
        source=_SOURCE,
        bad="--swa-full-tokens-ratio 1.5 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--swa-full-tokens-ratio 0.5",
    ),
    Row(
        "M11",
        REFUSES,
        when=lambda s: s.swa_prefix_tails is not None and s.swa_prefix_tails < 0,
        versions="0.5.20..",
        says="swa-prefix-tails is {swa_prefix_tails}. Use 0 or more.",
        at="swa-prefix-tails",
        fix=(Set("swa-prefix-tails", None),),
        source=_SOURCE,
        bad="--swa-prefix-tails=-1 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--swa-prefix-tails=2 @ 0.5.23 8x-h100-80 llama-3.1-8b",
    ),
)
