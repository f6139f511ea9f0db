"""The sparse attention of this model does not work with this KV dtype or kernel.

## What it does
Checks kv-cache-dtype and the DSA kernels of models with DeepSeek sparse attention, and kv-cache-dtype of DeepSeek V4.

## Why
The indexer and the sparse kernels read bfloat16 or fp8_e4m3. Left at auto, SGLang stores fp8_e4m3 on compute
capability 10.0 and above, bfloat16 below. The triton kernel is for ROCm; on CUDA tilelang reads an fp8 cache only
where it does both phases.

## Source
sglang srt/server_args.py `_set_default_nsa_kv_cache_dtype`, 0.5.5.post3 to 0.5.12; srt/arg_groups/overrides.py
`_dsa_kv_cache_dtype_default`, `_check_dsa_backend_constraints` and `_deepseek_v4_kv_cache_dtype`, 0.5.15 to 0.5.23.
"""

from preflight.engines.sglang.attention import uses_dsa
from preflight.engines.sglang.facts import at_least, on_amd, sm
from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("ATT010", "sparse-attention-kv-dtype", "sglang", "model")
_SOURCE = "srt/arg_groups/overrides.py"
_SPARSE = ("nsa", "dsa", "ascend", "intel_xpu")


def _tilelang(s: State) -> str | None:
    """What tilelang on an fp8 cache is refused for on CUDA."""
    chosen = (s.dsa_prefill_backend, s.dsa_decode_backend)
    if "tilelang" not in chosen or s.kv_cache_dtype != "fp8_e4m3" or on_amd(s):
        return None
    if not at_least(s, "0.5.23"):
        return "tilelang does not read an fp8_e4m3 cache on CUDA"
    if chosen != ("tilelang", "tilelang"):
        return "tilelang must do both phases of an fp8_e4m3 cache on CUDA"
    if (s.dcp_size or 1) > 1:
        return f"tilelang on an fp8_e4m3 cache does not work with dcp-size {s.dcp_size}"
    return "tilelang on an fp8_e4m3 cache needs compute capability 8.9" if sm(s) < 89 else None


ROWS = (
    Row(
        "A25",
        REFUSES,
        when=lambda s: s.kv_cache_dtype not in ("auto", "bf16", "bfloat16", "fp8_e4m3") and uses_dsa(s),
        versions="0.5.5..",
        says="Sparse attention reads a bfloat16 or fp8_e4m3 KV cache, not {kv_cache_dtype}. Use auto.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        order=23,
    ),
    Row(
        "A25-generic",
        WARNS,
        when=lambda s: s.given("attention-backend") and s.attention_backend not in _SPARSE and uses_dsa(s),
        versions="0.5.5..",
        says="attention-backend {attention_backend} is not made for this model's sparse attention, and is known to fail while "
        "graphs are "
        "captured. Leave the backend to the engine.",
        at="attention-backend",
        fix=(Set("attention-backend", None),),
        source="srt/layers/attention/attention_registry.py",
        bad="--tp-size 8 --attention-backend triton @ 0.5.9 8x-h200 deepseek-v3.2",
        good="--no:attention-backend",
        order=26,
    ),
    Row(
        "A25-v4",
        REFUSES,
        when=lambda s: (
            s.kv_cache_dtype not in ("auto", "fp8_e4m3", "bfloat16" if at_least(s, "0.5.15") else "auto")
            and s.model.architecture == "DeepseekV4ForCausalLM"
        ),
        versions="0.5.12..",
        says="DeepSeek V4 keeps an fp8_e4m3 KV cache, not {kv_cache_dtype}. Use auto.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        order=23,
    ),
    Row(
        "A27",
        REFUSES,
        when=lambda s: "triton" in (s.dsa_prefill_backend, s.dsa_decode_backend) and not on_amd(s) and uses_dsa(s),
        versions="0.5.20..",
        says="The triton kernel of sparse attention is for ROCm. On CUDA use flashmla_kv (Hopper) or trtllm (Blackwell).",
        at="dsa-prefill-backend",
        fix=(Set("dsa-prefill-backend", None), Set("dsa-decode-backend", None)),
        source=_SOURCE,
        order=25,
    ),
    Row(
        "A27-tilelang",
        REFUSES,
        when=lambda s: _tilelang(s) is not None and uses_dsa(s),
        versions="0.5.18..",
        says=lambda s: f"{_tilelang(s)}. Use kv-cache-dtype bfloat16, or another kernel.",
        at="dsa-prefill-backend",
        fix=(Set("dsa-prefill-backend", None), Set("dsa-decode-backend", None)),
        source=_SOURCE,
        order=25,
    ),
)
