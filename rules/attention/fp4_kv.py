"""A 4-bit KV cache does not work with this GPU, backend or option.

## What it does
Checks kv-cache-dtype fp4_e2m1 (up to 0.5.15), nvfp4 and fp4_mx_block16 (later) against attention backend, GPU and
options.

## Why
Few kernels read 4-bit keys and values. SGLang keeps a list for MLA models and one for the others, with lists of their
own where FlashAttention 4 does the prefill; a pair of different backends is let through with a warning. nvfp4 needs
SM100 or SM120, and with trtllm_mha on SM100 it excludes the transfer and host-tier pools, whose layout has no room
for its scales.

## Source
sglang 0.5.8 to 0.5.18 srt/server_args.py `_handle_kv4_compatibility`; 0.5.20 and 0.5.23
srt/arg_groups/kv_cache_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least, attention_backends, cuda_major, is_mla, on_cuda
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("ATT007", "fp4-kv-cache", "sglang", "kv-dtype")
_SOURCE = "srt/arg_groups/kv_cache_hook.py handle_kv4_compatibility"
_MHA = ("triton", "torch_native", "flex_attention", "trtllm_mha")
_MHA_AFTER_FA4 = ("triton", "torch_native", "flex_attention")


def _mla_list(s: State) -> tuple[str, ...]:
    if at_least(s, "0.5.20"):
        return ("flashinfer", "trtllm_mla")
    if at_least(s, "0.5.18") or attention_backends(s)[0] == "fa4":
        return ("cutlass_mla", "flashinfer", "trtllm_mla")
    return ("cutlass_mla", "flashinfer", "trtllm_mla", "flashmla")


def _fp4(s: State) -> bool:
    return s.kv_cache_dtype in (("nvfp4", "fp4_mx_block16") if at_least(s, "0.5.18") else ("fp4_e2m1",))


def _listed(s: State) -> tuple[str, ...]:
    """The backends that may read it, by what does the prefill."""
    if is_mla(s):
        return _mla_list(s)
    return _MHA_AFTER_FA4 if attention_backends(s)[0] == "fa4" else _MHA


def _tested(s: State) -> str | None:
    """The backend that is looked up: the common one, or after a fa4 prefill the one that decodes; None for other pairs."""
    prefill, decode = attention_backends(s)
    if prefill == "fa4":
        return decode
    return str(s.attention_backend) if prefill == decode else None


def _native(s: State) -> bool:
    """0.5.23: nvfp4 in trtllm_mha's own layout."""
    return s.kv_cache_dtype == "nvfp4" and "trtllm_mha" in attention_backends(s) and cuda_major(s) == 10


def _native_hinders(s: State) -> str | None:
    if s.disaggregation_mode not in (None, "null"):
        return "disaggregation-mode"
    if s.enable_hierarchical_cache:
        return "enable-hierarchical-cache"
    if s.enable_lmcache:
        return "enable-lmcache"
    name = algorithm(s)
    if name is not None and name not in ("EAGLE", "EAGLE3", "NEXTN", "NGRAM"):
        return "speculative-algorithm"
    if name == "NGRAM" and s.speculative_ngram_max_bfs_breadth != 1:
        return "speculative-ngram-max-bfs-breadth"
    if name not in (None, "NGRAM") and s.speculative_draft_attention_backend not in (None, "trtllm_mha"):
        return "speculative-draft-attention-backend"
    return None


ROWS = (
    Row(
        "A20-device",
        REFUSES,
        when=lambda s: _fp4(s) and not on_cuda(s),
        versions="0.5.8..",
        says="kv-cache-dtype {kv_cache_dtype} works on CUDA only. Use auto.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        order=10,
    ),
    Row(
        "A21",
        REFUSES,
        when=lambda s: s.kv_cache_dtype == "nvfp4" and on_cuda(s) and cuda_major(s) not in (10, 12),
        versions="0.5.18..",
        says="kv-cache-dtype nvfp4 needs SM100 or SM120 (Blackwell); this GPU has compute capability {gpu__compute_capability}. "
        "fp4_mx_block16 works elsewhere.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        bad="--kv-cache-dtype nvfp4 --attention-backend trtllm_mha @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--kv-cache-dtype auto",
        order=11,
    ),
    Row(
        "A21-unified",
        REFUSES,
        when=lambda s: _fp4(s) and bool(s.enable_unified_memory),
        versions="0.5.23..",
        says="kv-cache-dtype {kv_cache_dtype} does not work with enable-unified-memory. Take one of them out.",
        at="enable-unified-memory",
        fix=(Set("enable-unified-memory", None),),
        source=_SOURCE,
        order=12,
    ),
    Row(
        "A22",
        REFUSES,
        when=lambda s: _native(s) and _native_hinders(s) is not None,
        versions="0.5.23..",
        says=lambda s: (
            f"kv-cache-dtype nvfp4 with trtllm_mha on SM100 does not work with this {_native_hinders(s)}. Change it, or use "
            f"kv-cache-dtype auto."
        ),
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        bad="--kv-cache-dtype nvfp4 --attention-backend trtllm_mha --enable-hierarchical-cache @ 0.5.23 8x-b200 llama-3.1-8b",
        good="--no:enable-hierarchical-cache",
        order=13,
    ),
    Row(
        "A22-draft",
        SETS,
        when=lambda s: s.speculative_draft_attention_backend is None and _native(s) and algorithm(s) not in (None, "NGRAM"),
        versions="0.5.23..",
        sets="speculative-draft-attention-backend",
        value="trtllm_mha",
        source=_SOURCE,
        order=14,
    ),
    Row(
        "A20",
        REFUSES,
        when=lambda s: _fp4(s) and on_cuda(s) and (name := _tested(s)) is not None and name not in _listed(s),
        versions="0.5.8..",
        says=lambda s: f"A {s.kv_cache_dtype} KV cache is not read by {_tested(s)}. Use one of {', '.join(_listed(s))}.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        bad="--kv-cache-dtype fp4_e2m1 --attention-backend fa3 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--attention-backend triton",
        order=15,
    ),
)
