"""Cached states exclude something else that the launch asks for.

## What it does
Finds models with state layers whose prefix cache is incompatible with the overlap schedule, speculation, pages or an
attention backend, given the `mamba-radix-cache-strategy` (`mamba-scheduler-strategy` before 0.5.15).

## Why
A state sums up a whole prefix, so it can only be cached at the point where it was copied. `extra_buffer` copies it at
intervals while decoding goes on; `no_buffer` copies it when nothing else runs: no overlap, single-token pages, no
trtllm_mha, and before 0.5.15 no speculation. Up to 0.5.9 SGLang gives the radix cache up where they meet; 0.5.10 and
0.5.12 refuse speculation, and up to 0.5.10 pages of more than one token end the server after loading; since 0.5.15 an
explicit no_buffer is refused unless the overlap schedule is off as well.

## Fix
Unsafe: either the cache or the other has to go.

## Source
sglang 0.5.9 to 0.5.12 srt/server_args.py; 0.5.15 to 0.5.23 srt/arg_groups/mamba_hook.py.
"""

from preflight.engines.sglang.facts import at_least, on_amd
from preflight.engines.sglang.hybrid import CHUNK, extra_buffer, shares_states, takes_snapshots, without_buffer
from preflight.engines.steps import DIES, REFUSES, SETS, WARNS, Row, Set, State, Topic

TOPIC = Topic("MEM040", "state-cache-conflict", "sglang", "model")

_SOURCE = "srt/arg_groups/mamba_hook.py"
_FIX = (Set("disable-radix-cache", True),)


def _buffered(s: State) -> bool:
    """Whether states are cached through the extra buffer."""
    if not extra_buffer(s):
        return False
    return shares_states(s) and not (at_least(s, "0.5.15") and s.disable_radix_cache)


def _stateless_buffer(s: State) -> bool:
    """Whether an extra buffer is asked for a model without states."""
    return bool(
        s.given("mamba-radix-cache-strategy")
        and str(s.mamba_radix_cache_strategy).startswith("extra_buffer")
        and not s.disable_radix_cache
        and not shares_states(s)
        and not any(group.kind == "linear" for group in s.model.attention)
    )


def _no_buffer_fault(s: State) -> str | None:
    if not without_buffer(s):
        return None
    if s.page_size not in (None, 1):
        return f"page-size {s.page_size}"
    if not s.disable_overlap_schedule:
        return "the overlap schedule (disable-overlap-schedule is not given)"
    return "attention-backend trtllm_mha" if s.attention_backend == "trtllm_mha" else None


ROWS = (
    Row(
        "W1",
        SETS,
        when=lambda s: without_buffer(s) and (s.speculative_algorithm is not None or s.attention_backend == "trtllm_mha"),
        versions="0.5.9..0.5.9",
        sets=("disable-radix-cache", "disable-overlap-schedule"),
        value=lambda s: (True, bool(s.disable_overlap_schedule and s.speculative_algorithm is not None)),
        says="SGLang turns the radix cache off: this model's cached states exclude speculation and trtllm_mha. "
        "Add disable-radix-cache, or mamba-scheduler-strategy extra_buffer where the model has it.",
        fix=_FIX,
        source="srt/server_args.py",
        order=60,
        bad="--speculative-algorithm EAGLE --tp-size 4 @ 0.5.9 4x-h200 qwen3-next-80b-a3b",
        good="--disable-radix-cache",
    ),
    Row(
        "W1",
        SETS,
        when=lambda s: without_buffer(s) and s.speculative_algorithm is None and s.attention_backend == "trtllm_mha",
        versions="0.5.10..0.5.12",
        sets=("disable-radix-cache", "disable-overlap-schedule"),
        value=(True, False),
        says="SGLang turns the radix cache off: this model's cached states exclude trtllm_mha. Add disable-radix-cache.",
        fix=_FIX,
        source="srt/server_args.py",
        order=60,
    ),
    Row(
        "W1",
        REFUSES,
        when=lambda s: without_buffer(s) and s.speculative_algorithm is not None and not on_amd(s),
        versions="0.5.10..0.5.12",
        says="This model's cached states exclude speculation with no_buffer. Use mamba-scheduler-strategy extra_buffer, or "
        "disable-radix-cache.",
        at="speculative-algorithm",
        fix=(Set("mamba-radix-cache-strategy", "extra_buffer"), *_FIX),
        source="srt/server_args.py",
        order=59,
        bad="--speculative-algorithm EAGLE --tp-size 4 @ 0.5.12 4x-h200 qwen3-next-80b-a3b",
        good="--disable-radix-cache",
    ),
    Row(
        "W1",
        REFUSES,
        when=lambda s: _no_buffer_fault(s) is not None,
        versions="0.5.15..",
        says=lambda s: (
            f"mamba-radix-cache-strategy no_buffer excludes {_no_buffer_fault(s)}. Use auto, or turn the radix cache off."
        ),
        at="mamba-radix-cache-strategy",
        fix=(Set("mamba-radix-cache-strategy", None), *_FIX),
        source=_SOURCE,
        order=60,
        bad="--mamba-radix-cache-strategy no_buffer --tp-size 4 @ 0.5.23 4x-h200 qwen3-next-80b-a3b",
        good="--disable-overlap-schedule",
    ),
    Row(
        "W1-pages",
        DIES,
        when=lambda s: (
            s.given("page-size")
            and s.page_size > 1
            and without_buffer(s)
            and not s.enable_hierarchical_cache
            and s.disaggregation_mode == "null"
        ),
        versions="0.5.8..0.5.10",
        says="page-size {page_size} with no_buffer: this model's cached states need single-token pages, and the prefix cache "
        "refuses others after loading. Use page-size 1, or mamba-scheduler-strategy extra_buffer where the model has it.",
        at="page-size",
        fix=(Set("page-size", 1),),
        stage="capture",
        source="srt/mem_cache/mamba_radix_cache.py",
        order=66,
        bad="--page-size 64 --mamba-scheduler-strategy no_buffer --tp-size 4 @ 0.5.9 4x-h200 qwen3-next-80b-a3b",
        good="--page-size 1",
    ),
    Row(
        "W2-unused",
        WARNS,
        when=lambda s: extra_buffer(s) and shares_states(s) and s.disable_radix_cache,
        versions="0.5.8..0.5.9",
        says="mamba-scheduler-strategy extra_buffer serves the radix cache, which is off: it takes more states a request for "
        "nothing. Leave it out.",
        at="mamba-radix-cache-strategy",
        fix=(Set("mamba-radix-cache-strategy", None),),
        source="srt/server_args.py",
        order=61,
        bad="--disable-radix-cache --mamba-scheduler-strategy extra_buffer --tp-size 4 @ 0.5.9 4x-h200 qwen3-next-80b-a3b",
        good="--no:mamba-scheduler-strategy",
    ),
    Row(
        "W2",
        REFUSES,
        when=lambda s: extra_buffer(s) and shares_states(s) and s.disable_radix_cache,
        versions="0.5.10..0.5.12",
        says="mamba-scheduler-strategy extra_buffer serves the radix cache, which is off. Leave it out.",
        at="mamba-radix-cache-strategy",
        fix=(Set("mamba-radix-cache-strategy", None),),
        source="srt/server_args.py",
        order=61,
    ),
    Row(
        "W2",
        REFUSES,
        when=lambda s: _buffered(s) and not takes_snapshots(s),
        versions="0.5.9..",
        says="This model cannot copy its states at intervals, so extra_buffer is refused. Leave it out.",
        at="mamba-radix-cache-strategy",
        fix=(Set("mamba-radix-cache-strategy", None),),
        source=_SOURCE,
        order=62,
        bad="--mamba-scheduler-strategy extra_buffer --tp-size 2 @ 0.5.9 8x-h200 nemotron-3-nano",
        good="--no:mamba-scheduler-strategy",
    ),
    Row(
        "W2-stateless",
        REFUSES,
        when=_stateless_buffer,
        versions="0.5.23..",
        says="mamba-radix-cache-strategy {mamba_radix_cache_strategy} needs a model with state layers. Leave it out.",
        at="mamba-radix-cache-strategy",
        fix=(Set("mamba-radix-cache-strategy", None),),
        source=_SOURCE,
        order=57,
        bad="--mamba-radix-cache-strategy extra_buffer @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:mamba-radix-cache-strategy",
    ),
    Row(
        "W2-stateless-late",
        WARNS,
        when=_stateless_buffer,
        versions="0.5.12..0.5.20",
        says="This model has no state layers for {mamba_radix_cache_strategy} to buffer; launches with it are known to crash "
        "while decoding. Leave mamba-radix-cache-strategy out.",
        at="mamba-radix-cache-strategy",
        fix=(Set("mamba-radix-cache-strategy", None),),
        source=_SOURCE,
        order=57,
        bad="--mamba-radix-cache-strategy extra_buffer @ 0.5.18 8x-h100-80 llama-3.1-8b",
        good="--no:mamba-radix-cache-strategy",
    ),
    Row(
        "W3",
        REFUSES,
        when=lambda s: without_buffer(s) and s.linear_attn_decode_backend == "flashinfer",
        versions="0.5.10..0.5.10",
        says="linear-attn-decode-backend flashinfer does not work with no_buffer. Use mamba-scheduler-strategy extra_buffer.",
        at="linear-attn-decode-backend",
        fix=(Set("mamba-radix-cache-strategy", "extra_buffer"), Set("linear-attn-decode-backend", None)),
        source="srt/server_args.py",
        order=58,
    ),
    Row(
        "S30",
        REFUSES,
        when=lambda s: (
            _buffered(s)
            and s.speculative_num_draft_tokens is not None
            and s.mamba_track_interval < s.speculative_num_draft_tokens
        ),
        versions="0.5.9..",
        says="mamba-track-interval {mamba_track_interval} is below speculative-num-draft-tokens {speculative_num_draft_tokens}. "
        "Leave it out for the default.",
        at="mamba-track-interval",
        fix=(Set("mamba-track-interval", None),),
        source=_SOURCE,
        order=63,
    ),
    Row(
        "W2",
        REFUSES,
        when=lambda s: _buffered(s) and s.page_size is not None and s.mamba_track_interval % s.page_size != 0,
        versions="0.5.9..",
        says="mamba-track-interval {mamba_track_interval} is no multiple of page-size {page_size}. Use a multiple.",
        at="mamba-track-interval",
        fix=(Set("mamba-track-interval", lambda s: -(-s.mamba_track_interval // s.page_size) * s.page_size),),
        source=_SOURCE,
        order=64,
    ),
    Row(
        "C14",
        REFUSES,
        when=lambda s: _buffered(s) and s.page_size is not None and max(CHUNK, s.page_size) % min(CHUNK, s.page_size) != 0,
        versions="0.5.9..",
        says=f"page-size {{page_size}} and the {CHUNK} tokens of a state chunk do not divide each other. Use {CHUNK}.",
        at="page-size",
        fix=(Set("page-size", CHUNK),),
        source=_SOURCE,
        order=65,
    ),
)
