"""The unified memory pool does not support an option of the launch.

## What it does
Checks enable-unified-memory and enable-page-major-kv-layout against backends, roles, speculation and caches.

## Why
One pool holds every kind of state page by page, and only kernels that follow its strides can read it: up to 0.5.15
triton alone, later most backends. What moves entries about by itself is not supported yet. From 0.5.20 on the
page-major layout exists only inside the unified pool.

## Source
sglang 0.5.15 to 0.5.23 `_handle_page_major_kv_layout` and `_handle_unified_memory_pool` (0.5.20:
srt/arg_groups/kv_cache_hook.py).
"""

from preflight.engines.sglang.facts import at_least, attention_backends, is_mla, recurrent, sliding
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("MEM049", "unified-memory", "sglang", "unified-memory")
_SOURCE = "srt/arg_groups/kv_cache_hook.py handle_unified_memory_pool"
_MLA = ("triton", "fa3", "trtllm_mla", "flashinfer", "cutedsl_mla", "tokenspeed_mla")


def _reads(s: State) -> tuple[str, ...]:
    """The backends that follow the pool's strides."""
    if not at_least(s, "0.5.18") or not s.enable_unified_memory:
        return ("triton",)
    if is_mla(s):
        return (*_MLA, "flashmla") if at_least(s, "0.5.20") else _MLA
    return ("triton", "fa3", "fa4", "flashinfer", "trtllm_mha") if at_least(s, "0.5.20") else ("triton",)


def _stray(s: State) -> str | None:
    return next((name for name in attention_backends(s) if name is not None and name not in _reads(s)), None)


def _linear(s: State) -> str | None:
    """The linear-attention kernel that does not follow the strides."""
    if not at_least(s, "0.5.18"):
        names = (s.linear_attn_backend, s.linear_attn_decode_backend, s.linear_attn_prefill_backend, s.mamba_backend)
        return next((name for name in names if name not in (None, "triton")), None)
    decode = {"triton", "flashinfer", None}
    prefill = {"triton", "flashkda", None} | ({"flashinfer"} if at_least(s, "0.5.23") else set())
    more = {"cutedsl", "helion"} if is_mla(s) else set()
    chosen = (
        (s.linear_attn_decode_backend or s.linear_attn_backend, decode | more),
        (s.linear_attn_prefill_backend or s.linear_attn_backend, prefill | more),
        (s.mamba_backend, {None, "triton"}),
    )
    return next((name for name, allowed in chosen if name not in allowed), None)


def _hinders(s: State) -> str | None:
    """0.5.23: the first option that the pool does not support."""
    name = s.speculative_algorithm
    disaggregated = s.disaggregation_mode not in (None, "null")
    eagle = name in ("EAGLE", "EAGLE3")
    for option, wrong in (
        (
            "disaggregation-transfer-backend",
            disaggregated and s.disaggregation_transfer_backend not in ("mooncake", "mooncake_tcp"),
        ),
        ("pp-size", disaggregated and s.pp_size != 1),
        ("speculative-algorithm", disaggregated and name is not None and s.disaggregation_transfer_backend == "mooncake"),
        ("speculative-algorithm", name not in (None, "DSPARK", "EAGLE", "EAGLE3", "DFLASH")),
        ("speculative-eagle-topk", s.speculative_eagle_topk not in (None, 1)),
        ("enable-two-batch-overlap", bool(s.enable_two_batch_overlap)),
        ("enable-lmcache", bool(s.enable_lmcache)),
        ("enable-unified-cache-external-linker", bool(s.enable_unified_cache_external_linker)),
        ("enable-hierarchical-cache", eagle and bool(s.enable_hierarchical_cache)),
        ("disaggregation-decode-retraction-backup", eagle and s.disaggregation_decode_retraction_backup == "host_pool"),
    ):
        if wrong:
            return option
    if eagle and not sliding(s) and not recurrent(s):
        return "speculative-algorithm"
    return None


ROWS = (
    Row(
        "M14-sets",
        SETS,
        when=lambda s: bool(s.enable_unified_memory),
        versions="0.5.15..",
        sets="enable-page-major-kv-layout",
        value=True,
        source=_SOURCE,
        order=10,
    ),
    Row(
        "M15",
        REFUSES,
        when=lambda s: s.enable_page_major_kv_layout and not s.enable_unified_memory,
        versions="0.5.20..",
        says="enable-page-major-kv-layout needs enable-unified-memory. Add that, or take it out.",
        at="enable-page-major-kv-layout",
        fix=(Set("enable-page-major-kv-layout", None),),
        source=_SOURCE,
        bad="--enable-page-major-kv-layout @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--enable-unified-memory",
        order=20,
    ),
    Row(
        "M14-backend",
        REFUSES,
        when=lambda s: s.enable_page_major_kv_layout and _stray(s) is not None,
        versions="0.5.15..",
        says=lambda s: f"The page-major layout is not read by {_stray(s)}. Use one of {', '.join(_reads(s))}.",
        at="attention-backend",
        fix=(Set("attention-backend", "triton"),),
        source=_SOURCE,
        bad="--enable-unified-memory @ 0.5.15.post1 8x-h100-80 llama-3.1-8b",
        good="--attention-backend triton",
        order=21,
    ),
    Row(
        "M14-linear",
        REFUSES,
        when=lambda s: s.enable_page_major_kv_layout and _linear(s) is not None,
        versions="0.5.15..",
        says=lambda s: f"The page-major layout is not read by the recurrent kernel {_linear(s)}. Use triton.",
        at="linear-attn-backend",
        fix=(Set("linear-attn-backend", "triton"), Set("mamba-backend", "triton")),
        source=_SOURCE,
        order=22,
    ),
    Row(
        "M14",
        REFUSES,
        when=lambda s: s.enable_unified_memory and _hinders(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"enable-unified-memory does not work with this {_hinders(s)}. Take one of them out.",
        at="enable-unified-memory",
        fix=(Set("enable-unified-memory", None),),
        source=_SOURCE,
        bad="--enable-unified-memory --speculative-algorithm NGRAM @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-unified-memory",
        order=30,
    ),
)
