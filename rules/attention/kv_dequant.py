"""prefill-kv-cache-dequant-dtype contradicts the KV dtype, a backend or the GPU.

## What it does
Checks prefill-kv-cache-dequant-dtype, and the attention backends beside an nvfp4 KV cache.

## Why
An nvfp4 cache is read for prefill either as it is (trtllm_mha, SM100) or through an fp8_e4m3 workspace (flashinfer);
decode is trtllm_mha. SGLang chooses both backends from the dtype and refuses a backend that contradicts it.

## Source
sglang 0.5.23 srt/arg_groups/kv_cache_hook.py `handle_nvfp4_prefill_kv_dequant_dtype`.
"""

from preflight.engines.sglang.facts import cuda_major
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("ATT008", "kv-dequant-dtype", "sglang", "attention")
_SOURCE = "srt/arg_groups/kv_cache_hook.py handle_nvfp4_prefill_kv_dequant_dtype"
_READS = {"flashinfer": "fp8_e4m3", "trtllm_mha": "nvfp4"}
_READER = {"fp8_e4m3": "flashinfer", "nvfp4": "trtllm_mha"}


def _wanted(s: State) -> str | None:
    """What prefill reads; None where the given backend reads neither."""
    if s.prefill_kv_cache_dequant_dtype != "auto":
        return str(s.prefill_kv_cache_dequant_dtype)
    backend = s.prefill_attention_backend or s.attention_backend
    if backend is not None:
        return _READS.get(str(backend))
    return "nvfp4" if cuda_major(s) == 10 else "fp8_e4m3"


def _conflict(s: State) -> str | None:
    wanted = _wanted(s)
    if wanted is None:
        backend = s.prefill_attention_backend or s.attention_backend
        return f"An nvfp4 KV cache is not read for prefill by {backend}. Use flashinfer or trtllm_mha."
    if wanted == "nvfp4" and cuda_major(s) != 10:
        return "Prefill reads nvfp4 itself on SM100 only. Use prefill-kv-cache-dequant-dtype fp8_e4m3."
    if s.prefill_attention_backend not in (None, _READER[wanted]):
        return f"Prefill from {wanted} needs the backend {_READER[wanted]}. Take prefill-attention-backend out."
    if s.decode_attention_backend not in (None, "trtllm_mha"):
        return f"An nvfp4 KV cache is not decoded by {s.decode_attention_backend}. Take decode-attention-backend out."
    return None


ROWS = (
    Row(
        "A23",
        REFUSES,
        when=lambda s: s.prefill_kv_cache_dequant_dtype not in (None, "auto") and s.kv_cache_dtype != "nvfp4",
        versions="0.5.23..",
        says="prefill-kv-cache-dequant-dtype is for kv-cache-dtype nvfp4; it is {kv_cache_dtype}. Take it out.",
        at="prefill-kv-cache-dequant-dtype",
        fix=(Set("prefill-kv-cache-dequant-dtype", None),),
        source=_SOURCE,
        bad="--prefill-kv-cache-dequant-dtype fp8_e4m3 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:prefill-kv-cache-dequant-dtype",
        order=5,
    ),
    Row(
        "A23-backend",
        REFUSES,
        when=lambda s: s.kv_cache_dtype == "nvfp4" and _conflict(s) is not None,
        versions="0.5.23..",
        says=lambda s: _conflict(s) or "",
        at="kv-cache-dtype",
        source=_SOURCE,
        order=5,
    ),
    Row(
        "A23-sets",
        SETS,
        when=lambda s: s.kv_cache_dtype == "nvfp4" and _conflict(s) is None,
        versions="0.5.23..",
        sets=("prefill-attention-backend", "decode-attention-backend", "prefill-kv-cache-dequant-dtype"),
        value=lambda s: (_READER[str(_wanted(s))], "trtllm_mha", _wanted(s)),
        source=_SOURCE,
        order=6,
    ),
)
