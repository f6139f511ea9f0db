"""The prefill chunk is not a whole number of pages.

## What it does
Checks chunked-prefill-size, as each data-parallel rank gets it, against page-size.

## Why
A chunk is written to the KV cache in whole pages. SGLang asserts that page-size divides the chunk: the given one, or
the default divided by the DP attention groups. A backend that forces its own page size (64 for flashmla, 128 for
FlashAttention 4) can make a good pair fail.

## Source
sglang srt/server_args.py `check_server_args`, 0.4.10 to 0.5.18 (0.4.6: `__post_init__`);
srt/arg_groups/validation_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.sglang.facts import at_least, dp_groups, splits
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("ATT020", "chunk-not-whole-pages", "sglang", "checks")


def _tested(s: State) -> bool:
    """0.4.10 asserts of chunks of any sign, later releases of positive ones, from 0.5.5 on not on decode servers."""
    if s.chunked_prefill_size is None or (s.chunked_prefill_size <= 0 and at_least(s, "0.5.2")):
        return False
    return not (at_least(s, "0.5.5") and s.disaggregation_mode == "decode")


def _whole(s: State) -> int:
    """The nearest chunk at or above the given one whose share is whole pages."""
    step = int(s.page_size) * dp_groups(s)
    return -(-int(s.chunked_prefill_size) * dp_groups(s) // step) * step


def _message(s: State) -> str:
    share = f" for each of {dp_groups(s)} attention groups" if dp_groups(s) > 1 else ""
    return (
        f"The prefill chunk of {s.chunked_prefill_size:,} tokens{share} is not a multiple of page-size {s.page_size}. Use a "
        f"chunked-prefill-size such as {_whole(s):,}."
    )


ROWS = (
    Row(
        "C1",
        REFUSES,
        when=lambda s: _tested(s) and not splits(s.chunked_prefill_size, s.page_size),
        versions="0.4.10..",
        says=_message,
        at="chunked-prefill-size",
        fix=(Set("chunked-prefill-size", _whole), Set("page-size", None)),
        source="srt/server_args.py check_server_args",
        bad="--chunked-prefill-size 1000 --page-size 64 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--chunked-prefill-size 1024",
    ),
    Row(
        "C1-early",
        REFUSES,
        when=lambda s: None not in (s.chunked_prefill_size, s.page_size) and not splits(s.chunked_prefill_size, s.page_size),
        versions="..0.4.6",
        says="chunked-prefill-size {chunked_prefill_size} is not a multiple of page-size {page_size}. Use a multiple.",
        at="chunked-prefill-size",
        fix=(Set("chunked-prefill-size", lambda s: -(-s.chunked_prefill_size // s.page_size) * s.page_size),),
        source="srt/server_args.py __post_init__",
        bad="--chunked-prefill-size 1000 --page-size 64 @ 0.4.6.post5 8x-h100-80 llama-3.1-8b",
        good="--chunked-prefill-size 1024",
        step="sampling",
    ),
)
