"""An embedding server without KV cache needs one prefill a request.

## What it does
Checks prefill-only-disable-kv-cache against the options that store or read keys and values.

## Why
Nothing is stored, so each request must be one forward pass: embedding mode, no chunks, no prefix cache, no context
parallelism, and FlashAttention for prefill, which is the one backend that reads keys and values where they are
computed.

## Source
sglang 0.5.12.post1 to 0.5.18 srt/server_args.py `_validate_prefill_only_disable_kv_cache_args`; 0.5.20 and 0.5.23
srt/arg_groups/kv_cache_hook.py.
"""

from preflight.engines.sglang.facts import at_least, attention_backends
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("ATT011", "prefill-only-without-kv-cache", "sglang", "disaggregation")
_SOURCE = "srt/arg_groups/kv_cache_hook.py validate_prefill_only_disable_kv_cache_args"


def _lacks(s: State) -> str | None:
    """The first thing that the launch would have to change."""
    fp4 = ("nvfp4", "fp4_mx_block16", "mxfp8") if at_least(s, "0.5.18") else ("fp4_e2m1",)
    for change, wrong in (
        ("add --is-embedding", not s.is_embedding),
        (f"use another kv-cache-dtype than {s.kv_cache_dtype}", s.kv_cache_dtype in fp4),
        ("add --chunked-prefill-size -1", s.chunked_prefill_size != -1),
        ("add --disable-radix-cache", not s.disable_radix_cache),
        ("set attn-cp-size to 1", (s.attn_cp_size or 1) > 1),
        ("take prefill context parallelism out", bool(s.enable_prefill_cp or s.enable_prefill_context_parallel)),
        ("take enable-hisparse out", bool(s.enable_hisparse)),
    ):
        if wrong:
            return change
    return None


ROWS = (
    Row(
        "A28",
        REFUSES,
        when=lambda s: s.prefill_only_disable_kv_cache and _lacks(s) is not None,
        versions="0.5.12..",
        says=lambda s: f"prefill-only-disable-kv-cache needs one forward pass a request: {_lacks(s)}.",
        at="prefill-only-disable-kv-cache",
        fix=(Set("prefill-only-disable-kv-cache", None),),
        source=_SOURCE,
        bad="--prefill-only-disable-kv-cache @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--is-embedding --chunked-prefill-size -1 --disable-radix-cache",
        order=90,
    ),
    Row(
        "A28-backend",
        REFUSES,
        when=lambda s: s.prefill_only_disable_kv_cache and attention_backends(s)[0] not in ("fa3", "fa4"),
        versions="0.5.12..",
        says=lambda s: (
            f"prefill-only-disable-kv-cache needs fa3 or fa4 for prefill; here it is {attention_backends(s)[0]}. Take it out."
        ),
        at="prefill-only-disable-kv-cache",
        fix=(Set("prefill-only-disable-kv-cache", None),),
        source=_SOURCE,
        bad="--prefill-only-disable-kv-cache --is-embedding --chunked-prefill-size -1 --disable-radix-cache @ 0.5.23 "
        "8x-a100-80 llama-3.1-8b",
        good="--no:prefill-only-disable-kv-cache",
        step="multi-item",
        order=90,
    ),
)
