"""Tokenizer settings contradict each other.

## What it does
Finds worker counts below 1, two ways of batching at once, and tokenizer flags beside `skip-tokenizer-init`.

## Why
There is at least one tokenizer and one detokenizer process, and requests are batched either by the caller or over time. Without a
tokenizer (`skip-tokenizer-init`) the batching flags are ignored, and so are further workers: tokenizer workers up to
0.5.15, detokenizer workers since 0.5.12.

## Fix
Safe where the flag has no effect.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/serving_hook.py, validation_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.steps import REFUSES, SETS, Row, Set, Topic

TOPIC = Topic("FLG040", "tokenizer-settings", "sglang", "tokenizer")

_SOURCE = "srt/arg_groups/serving_hook.py"

ROWS = (
    Row(
        "N6",
        REFUSES,
        when=lambda s: s.enable_tokenizer_batch_encode and s.enable_dynamic_batch_tokenizer,
        versions="0.5.5..",
        says="enable-tokenizer-batch-encode and enable-dynamic-batch-tokenizer exclude each other. Keep one.",
        at="enable-tokenizer-batch-encode",
        fix=(Set("enable-tokenizer-batch-encode", None), Set("enable-dynamic-batch-tokenizer", None)),
        source=_SOURCE,
        order=10,
        bad="--enable-tokenizer-batch-encode --enable-dynamic-batch-tokenizer @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:enable-tokenizer-batch-encode",
    ),
    Row(
        "N5",
        SETS,
        when=lambda s: s.skip_tokenizer_init and s.tokenizer_worker_num != 1,
        versions="0.5.5..0.5.9",
        sets="tokenizer-worker-num",
        value=1,
        says="skip-tokenizer-init sets tokenizer-worker-num to 1. Leave it out.",
        fix=(Set("tokenizer-worker-num", None, SAFE),),
        source="srt/server_args.py",
        order=20,
        bad="--skip-tokenizer-init --tokenizer-worker-num 4 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:tokenizer-worker-num",
    ),
    Row(
        "N5",
        SETS,
        when=lambda s: s.skip_tokenizer_init and s.tokenizer_worker_num != 1,
        versions="0.5.10..0.5.15",
        sets="tokenizer-worker-num",
        value=1,
        says="skip-tokenizer-init sets tokenizer-worker-num to 1. Leave it out.",
        fix=(Set("tokenizer-worker-num", None, SAFE),),
        source="srt/server_args.py",
        order=20,
    ),
    Row(
        "N5",
        SETS,
        when=lambda s: s.skip_tokenizer_init and s.detokenizer_worker_num != 1 and not s.flag("SGLANG_RUST_SERVER"),
        versions="0.5.12..",
        sets="detokenizer-worker-num",
        value=1,
        says="skip-tokenizer-init sets detokenizer-worker-num to 1. Leave it out.",
        fix=(Set("detokenizer-worker-num", None, SAFE),),
        source=_SOURCE,
        order=21,
    ),
    Row(
        "N5",
        SETS,
        when=lambda s: s.skip_tokenizer_init and s.enable_tokenizer_batch_encode,
        versions="0.5.5..",
        sets="enable-tokenizer-batch-encode",
        value=False,
        says="skip-tokenizer-init ignores enable-tokenizer-batch-encode. Leave it out.",
        fix=(Set("enable-tokenizer-batch-encode", None, SAFE),),
        source=_SOURCE,
        order=22,
    ),
    Row(
        "N4",
        REFUSES,
        when=lambda s: s.tokenizer_worker_num is not None and s.tokenizer_worker_num < 1,
        versions="0.5.2..",
        says="tokenizer-worker-num {tokenizer_worker_num} is below 1. Leave it out for one worker.",
        at="tokenizer-worker-num",
        fix=(Set("tokenizer-worker-num", None),),
        source="srt/arg_groups/validation_hook.py",
        step="checks",
        order=54,
        bad="--tokenizer-worker-num 0 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--tokenizer-worker-num 2",
    ),
    Row(
        "N4",
        REFUSES,
        when=lambda s: s.detokenizer_worker_num is not None and s.detokenizer_worker_num < 1,
        versions="0.5.12..",
        says="detokenizer-worker-num {detokenizer_worker_num} is below 1. Leave it out for one worker.",
        at="detokenizer-worker-num",
        fix=(Set("detokenizer-worker-num", None),),
        source="srt/arg_groups/validation_hook.py",
        step="checks",
        order=54,
    ),
)
