"""Multi-item scoring scores many items in one prefill.

## What it does
Checks multi-item-scoring-delimiter (up to 0.5.10) and enable-mis (later).

## Why
All items of a request share one prompt under a mask, so chunks and a prefix cache would cut it apart. Up to 0.5.10
both must be turned off; later SGLang turns them off itself, together with the CUDA graphs, and needs flashinfer for
the mask.

## Source
sglang srt/server_args.py `check_server_args`, 0.5.5.post3 to 0.5.10; `_handle_multi_item_scoring`, 0.5.12 to 0.5.18;
srt/arg_groups/attention_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.sglang.facts import at_least, attention_backends
from preflight.engines.steps import REFUSES, SETS, Row, Set, Topic

TOPIC = Topic("ATT012", "multi-item-scoring", "sglang", "multi-item")
_SOURCE = "srt/arg_groups/attention_hook.py handle_multi_item_scoring"

ROWS = (
    Row(
        "A29-radix",
        REFUSES,
        when=lambda s: s.multi_item_scoring_delimiter is not None and not s.disable_radix_cache,
        versions="0.5.5..0.5.10",
        says="multi-item-scoring-delimiter needs the prefix cache off. Add --disable-radix-cache.",
        at="multi-item-scoring-delimiter",
        fix=(Set("disable-radix-cache", True),),
        source="srt/server_args.py check_server_args",
        bad="--multi-item-scoring-delimiter 151655 --chunked-prefill-size -1 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--disable-radix-cache",
        step="checks",
    ),
    Row(
        "A29-chunk",
        REFUSES,
        when=lambda s: s.multi_item_scoring_delimiter is not None and s.chunked_prefill_size != -1,
        versions="0.5.5..0.5.10",
        says="multi-item-scoring-delimiter needs chunked prefill off. Set chunked-prefill-size to -1.",
        at="multi-item-scoring-delimiter",
        fix=(Set("chunked-prefill-size", -1),),
        source="srt/server_args.py check_server_args",
        bad="--multi-item-scoring-delimiter 151655 --disable-radix-cache @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--chunked-prefill-size -1",
        step="checks",
    ),
    Row(
        "A29-sets",
        SETS,
        when=lambda s: bool(s.enable_mis),
        versions="0.5.12..",
        sets=("chunked-prefill-size", "disable-radix-cache"),
        value=(-1, True),
        says="enable-mis turns chunked prefill and the prefix cache off.",
        source=_SOURCE,
        order=20,
    ),
    Row(
        "A29-graphs",
        SETS,
        when=lambda s: bool(s.enable_mis),
        versions="0.5.12..",
        sets=("disable-cuda-graph", "disable-piecewise-cuda-graph", "cuda-graph-backend-decode", "cuda-graph-backend-prefill"),
        value=lambda s: (None, None, "disabled", "disabled") if at_least(s, "0.5.15") else (True, True, None, None),
        source=_SOURCE,
        order=20,
    ),
    Row(
        "A29",
        REFUSES,
        when=lambda s: s.enable_mis and attention_backends(s) != ("flashinfer", "flashinfer"),
        versions="0.5.12..",
        says=lambda s: (
            f"enable-mis needs attention-backend flashinfer for its mask; here prefill is {attention_backends(s)[0]} and decode "
            f"{attention_backends(s)[1]}."
        ),
        at="enable-mis",
        fix=(Set("attention-backend", "flashinfer"),),
        source=_SOURCE,
        bad="--enable-mis @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--attention-backend flashinfer",
        order=30,
    ),
)
