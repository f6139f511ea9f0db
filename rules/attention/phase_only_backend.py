"""The attention backend does not do what the launch asks of it.

## What it does
Reports flex_attention with speculative decoding, fa4 outside prefill in releases that cannot, and what
dual_chunk_flash_attn turns off.

## Why
flex_attention has no verification pass for drafts. FlashAttention 4 was a prefill kernel only up to 0.5.5. The
dual-chunk kernel for very long contexts knows neither mixed chunks nor a prefix cache, so SGLang turns both off.

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.5.2 to 0.5.18;
srt/arg_groups/attention_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.steps import REFUSES, SETS, Row, Set, Topic

TOPIC = Topic("ATT006", "backend-cannot-serve-launch", "sglang", "attention")
_SOURCE = "srt/server_args.py _handle_attention_backend_compatibility"

ROWS = (
    Row(
        "A16",
        REFUSES,
        when=lambda s: s.attention_backend == "flex_attention" and s.speculative_algorithm is not None,
        versions="0.5.5..",
        says="attention-backend flex_attention does not work with speculative-algorithm {speculative_algorithm}. Use another "
        "backend.",
        at="attention-backend",
        fix=(Set("attention-backend", None),),
        source=_SOURCE,
        bad="--attention-backend flex_attention --speculative-algorithm NGRAM @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--attention-backend triton",
        order=21,
    ),
    Row(
        "A12-decode",
        REFUSES,
        when=lambda s: s.attention_backend == "fa4" or s.decode_attention_backend == "fa4",
        versions="0.5.5..0.5.5",
        says="fa4 works for prefill only in this release. Use --prefill-attention-backend fa4.",
        at="attention-backend",
        fix=(Set("attention-backend", None), Set("decode-attention-backend", None)),
        source=_SOURCE,
        order=51,
    ),
    Row(
        "A15-off",
        SETS,
        when=lambda s: s.attention_backend == "dual_chunk_flash_attn",
        versions="0.5.2..0.5.18",
        sets=("enable-mixed-chunk", "disable-radix-cache"),
        value=(False, True),
        says="dual_chunk_flash_attn works without prefix cache and mixed chunks, so both are turned off.",
        source=_SOURCE,
        order=61,
    ),
    Row(
        "A15-graph",
        SETS,
        when=lambda s: s.attention_backend == "dual_chunk_flash_attn",
        versions="0.5.2..0.5.2",
        sets="disable-cuda-graph",
        value=True,
        source=_SOURCE,
        order=61,
    ),
)
