"""A prefill chunk is larger than the dispatch buffer.

## What it does
Compares the tokens that one rank dispatches at once with the buffer of the all-to-all backend.

## Why
MoRI, pplx and DeepEP v2 allocate their buffers for a fixed number of tokens per rank, set by environment variables whose
defaults (4,096; 128; 128) are below the default chunk of a large GPU (8,192 tokens from 60 GiB on). SGLang compares the
two and stops, for a larger chunk would overrun the buffer.

## Fix
Unsafe: a smaller chunk slows prefill; a larger buffer takes memory on every rank.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/moe_hook.py.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, Row, Set, State, Topic, Unknown

TOPIC = Topic("MOE006", "dispatch-buffer-too-small", "sglang", "a2a")

_SOURCE = "srt/arg_groups/moe_hook.py"
_MORI = "SGLANG_MORI_NUM_MAX_DISPATCH_TOKENS_PER_RANK"
_PPLX = "SGLANG_PPLX_NUM_MAX_DISPATCH_TOKENS_PER_RANK"
_DEEPEP_V2 = "SGLANG_DEEPEP_V2_NUM_MAX_DISPATCH_TOKENS_PER_RANK"


def _budget(s: State, name: str, default: int) -> int:
    text = s.env(name)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise Unknown(name) from None


def _chunk(s: State) -> int:
    """The tokens of one chunk; 0 where nothing is prefilled in chunks."""
    if at_least(s, "0.5.10") and s.disaggregation_mode == "decode":
        return 0
    return max(int(s.chunked_prefill_size), 0)


def _deepep_v2_tokens(s: State) -> int:
    """The largest prefill of one rank: a chunk, scattered over the ranks of an attention replica."""
    if s.disaggregation_mode == "decode":
        return 0
    tokens = s.chunked_prefill_size if s.chunked_prefill_size > 0 else s.max_prefill_tokens
    ranks = max(1, s.tp_size // max(s.attn_dp_size or 1, 1)) if at_least(s, "0.5.23") else max(1, s.tp_size // s.dp_size)
    return int(-(-tokens // ranks))


def _says(name: str, tokens: str, budget: str) -> str:
    return (
        f"A rank dispatches {tokens} tokens at once, but {name} is {budget}. Lower chunked-prefill-size, or raise the variable."
    )


ROWS = (
    Row(
        "E10",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "mori" and _chunk(s) > _budget(s, _MORI, 4096),
        versions="0.5.9..",
        says=lambda s: _says(_MORI, f"{_chunk(s):,}", f"{_budget(s, _MORI, 4096):,}"),
        at="chunked-prefill-size",
        fix=(Set("chunked-prefill-size", lambda s: _budget(s, _MORI, 4096)),),
        source=_SOURCE,
        order=60,
        bad="--moe-a2a-backend mori --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--chunked-prefill-size 4096",
    ),
    Row(
        "E13",
        REFUSES,
        when=lambda s: (
            s.moe_a2a_backend == "pplx"
            and _chunk(s) > 0
            and max(_chunk(s), s.cuda_graph_max_bs if s.given("cuda-graph-max-bs") else 0) > _budget(s, _PPLX, 128)
        ),
        versions="0.5.18..",
        says=lambda s: _says(_PPLX, f"{_chunk(s):,}", f"{_budget(s, _PPLX, 128):,}"),
        at="chunked-prefill-size",
        fix=(Set("chunked-prefill-size", lambda s: _budget(s, _PPLX, 128)),),
        source=_SOURCE,
        order=60,
    ),
    Row(
        "E12",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "deepep_v2" and _deepep_v2_tokens(s) > _budget(s, _DEEPEP_V2, 128),
        versions="0.5.20..",
        says=lambda s: _says(_DEEPEP_V2, f"{_deepep_v2_tokens(s):,}", f"{_budget(s, _DEEPEP_V2, 128):,}"),
        at="chunked-prefill-size",
        source=_SOURCE,
        step="graph-final",
        order=60,
    ),
    Row(
        "E9",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "flashinfer" and s.disaggregation_mode != "decode" and s.chunked_prefill_size <= 0,
        versions="0.5.20..",
        says="moe-a2a-backend flashinfer needs chunked prefill, for its buffer has a fixed size. Set chunked-prefill-size.",
        at="chunked-prefill-size",
        fix=(Set("chunked-prefill-size", None),),
        source=_SOURCE,
        step="a2a-budget",
    ),
)
