"""The attention backend, page size and KV dtype that SGLang picks where the launch does not.

Up to 0.5.2 the model runner picks, after argument code, and nothing is set here. Read in srt/server_args.py: the
model-specific handler and `_handle_attention_backend_compatibility`; from 0.5.15 on srt/arg_groups/overrides.py and
model_overrides/. What a backend then demands of page size and KV dtype, and refuses, is in rules/attention.
"""

from __future__ import annotations

from typing import Any

from preflight.engines.sglang.facts import (
    at_least,
    attention_unset,
    cuda_major,
    forces_topk_one,
    is_dsa,
    is_mla,
    on_amd,
)
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, State

DEEPSEEK_FAMILY = frozenset(
    {
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "KimiK25ForConditionalGeneration",
        "MistralLarge3ForCausalLM",
        "PixtralForConditionalGeneration",
        "GlmMoeDsaForCausalLM",
        "Glm5NextForConditionalGeneration",
        "HYV4ForCausalLM",
        "HYV4ForCausalLMNextN",
        "LongcatFlashForCausalLM",
        "LongcatFlashForCausalLMNextN",
        "Dots3NoteForCausalLM",
    }
)
LLAMA4 = frozenset({"Llama4ForConditionalGeneration", "Llama4ForCausalLM"})
QWEN_HYBRID = frozenset(
    {
        "Qwen3NextForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "InternS2PreviewForConditionalGeneration",
        "InternS2MobiusForConditionalGeneration",
    }
)
_NEMOTRON_H = frozenset({"NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Omni_Reasoning_V3"})
_OTHER_HYBRID = frozenset({"FalconH1ForCausalLM", "JetNemotronForCausalLM", "JetVLMForConditionalGeneration"})
_GEMMA4 = frozenset({"Gemma4ForConditionalGeneration", "Gemma4ForCausalLM", "Gemma4UnifiedForConditionalGeneration"})
_EXAONE = frozenset({"Exaone4ForCausalLM", "ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM"})
_QWEN3_VL = frozenset({"Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration"})
_FA3_BY_DEFAULT_0_5_5 = frozenset(
    {
        "Qwen2ForCausalLM",
        "Llama4ForConditionalGeneration",
        "LlamaForCausalLM",
        "Olmo2ForCausalLM",
        "Gemma2ForCausalLM",
        "Gemma3ForConditionalGeneration",
        "Qwen3ForCausalLM",
        "Qwen3MoeForCausalLM",
        "Glm4MoeForCausalLM",
        "Glm4vMoeForConditionalGeneration",
        "Step3VLForConditionalGeneration",
    }
)
_SINKS = frozenset({"MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM", "MiMoV2MTP", "GptOssForCausalLM"})
_GIB_60 = 61_440 << 20


def default_backend(s: State) -> str:
    """What is picked for a model that brings no default of its own."""
    if s.model.architecture == "WhisperForConditionalGeneration" and at_least(s, "0.5.10"):
        return "flashinfer"
    major = cuda_major(s)
    if is_mla(s):
        if on_amd(s):
            return "aiter" if s.model.heads // max(s.tp_size, 1) in (16, 128) else "triton"
        return {9: "fa3", 10: "flashinfer"}.get(major, "triton")
    plain = s.speculative_eagle_topk is None or (s.speculative_eagle_topk == 1 and s.page_size in (None, 1))
    if major == 9 and plain and (at_least(s, "0.5.8") or s.model.architecture in _FA3_BY_DEFAULT_0_5_5):
        return "fa3"
    if major == 10 and plain and at_least(s, "0.5.8") and _topk_known(s):
        return "fa4" if at_least(s, "0.5.18") and s.model.architecture in _SINKS - {"GptOssForCausalLM"} else "trtllm_mha"
    if on_amd(s):
        return "aiter"
    return "triton" if at_least(s, "0.5.12") and s.model.architecture in _SINKS else "flashinfer"


def _topk_known(s: State) -> bool:
    return s.speculative_algorithm is None or s.speculative_eagle_topk is not None or forces_topk_one(s)


def uses_dsa(s: State) -> bool:
    architecture = s.model.architecture
    return (architecture in DEEPSEEK_FAMILY or not at_least(s, "0.5.8")) and is_dsa(s)


def _by_major(**picks: str) -> Any:
    """A value by the major compute capability: `m9="fa3", other="triton"`."""
    return lambda s: picks.get(f"m{cuda_major(s)}", picks["other"])


def _qwen_hybrid(s: State) -> str:
    """Asked before an automatic cache strategy is settled, so only one that was given counts."""
    if not at_least(s, "0.5.10") or default_backend(s) != "trtllm_mha":
        return "triton"
    given = s.given("mamba-radix-cache-strategy") and str(s.mamba_radix_cache_strategy).startswith("extra_buffer")
    paged = given or s.disable_radix_cache or s.speculative_algorithm is not None
    return "trtllm_mha" if paged else "triton"


def _dsa_backends(s: State) -> tuple[str, str]:
    """Prefill and decode kernels of DSA; what the launch gives is kept, except by 0.5.5 and, on Blackwell with fp8, 0.5.10."""
    fp8, blackwell = s.kv_cache_dtype == "fp8_e4m3", cuda_major(s) >= 10
    prefill, decode = s.dsa_prefill_backend, s.dsa_decode_backend
    if s.enable_hisparse:
        pick = "flashmla_kv" if fp8 and at_least(s, "0.5.12") else "flashmla_sparse"
        return prefill or pick, decode or pick
    if fp8:
        picks = ("flashmla_auto", "flashmla_kv")
        if blackwell and at_least(s, "0.5.10"):
            picks = ("trtllm", "trtllm")
        elif at_least(s, "0.5.12"):
            picks = ("flashmla_kv", "flashmla_kv")
        if not at_least(s, "0.5.8") or (blackwell and at_least(s, "0.5.10") and not at_least(s, "0.5.12")):
            return picks
    else:
        picks = ("flashmla_sparse", "trtllm" if blackwell else "fa3")
        if not at_least(s, "0.5.8"):
            return ("flashmla_sparse", "flashmla_sparse") if blackwell else (prefill, decode)
    if at_least(s, "0.5.20") and s.model.architecture == "GlmMoeDsaForCausalLM" and cuda_major(s) == 12 and fp8:
        picks = ("flashinfer_sparse_mla", "flashinfer_sparse_mla")
    return prefill or picks[0], decode or picks[1]


def _large_hopper_qwen3_vl(s: State) -> bool:
    return s.model.architecture in _QWEN3_VL and cuda_major(s) == 9 and s.gpu.memory >= _GIB_60


_MODEL = "srt/server_args.py, model-specific handler (0.5.15: srt/arg_groups/overrides.py)"


def _default(
    name: str, when: Any, value: Any, versions: str = "0.5.5..", sets: Any = "attention-backend", order: int = 20
) -> Row:
    return Row(
        name, SETS, when=when, versions=versions, sets=sets, value=value, origin=MODEL_OVERRIDE, source=_MODEL, order=order
    )


def _is(*names: str) -> Any:
    """Nothing chosen, and one of these architectures."""
    wanted = frozenset(names)
    return lambda s: attention_unset(s) and s.model.architecture in wanted


def _is_alone(*names: str) -> Any:
    """`attention-backend` unset (whatever the phases' own), and one of these architectures."""
    wanted = frozenset(names)
    return lambda s: s.attention_backend is None and s.model.architecture in wanted


MODEL_ROWS = (
    _default(
        "A2-deepseek",
        lambda s: attention_unset(s) and s.model.architecture in _deepseek(s) and not uses_dsa(s) and cuda_major(s) == 10,
        "trtllm_mla",
    ),
    _default("A25-backend", lambda s: attention_unset(s) and uses_dsa(s), lambda s: "dsa" if at_least(s, "0.5.15") else "nsa"),
    _default(
        "A25-dp",
        lambda s: uses_dsa(s),
        lambda s: (True, s.tp_size),
        versions="0.5.5..0.5.5",
        sets=("enable-dp-attention", "dp-size"),
    ),
    _default("A25-page", uses_dsa, 64, sets="page-size"),
    _default(
        "A25-dtype",
        lambda s: s.kv_cache_dtype in ("auto", "bf16") and uses_dsa(s),
        lambda s: "bfloat16" if s.kv_cache_dtype == "bf16" or cuda_major(s) < 10 else "fp8_e4m3",
        sets="kv-cache-dtype",
        order=22,
    ),
    _default("A26", uses_dsa, _dsa_backends, sets=("dsa-prefill-backend", "dsa-decode-backend"), order=24),
    _default(
        "A25-v4",
        lambda s: s.model.architecture == "DeepseekV4ForCausalLM",
        ("dsv4", 256),
        versions="0.5.12..",
        sets=("attention-backend", "page-size"),
    ),
    _default(
        "A25-v4-dtype",
        lambda s: s.kv_cache_dtype == "auto" and s.model.architecture == "DeepseekV4ForCausalLM",
        "fp8_e4m3",
        versions="0.5.12..",
        sets="kv-cache-dtype",
    ),
    _default(
        "A1-gpt-oss",
        _is_alone("GptOssForCausalLM"),
        _by_major(m9="fa3", m10="trtllm_mha", other="triton"),
        versions="0.5.2..0.5.2",
    ),
    _default("A1-gpt-oss", _is("GptOssForCausalLM"), _by_major(m9="fa3", m10="trtllm_mha", other="triton"), versions="0.5.5.."),
    _default("A1-llama4", _is_alone(*LLAMA4), _by_major(m9="fa3", m10="trtllm_mha", other="triton"), versions="0.5.8.."),
    _default(
        "A1-llama4",
        lambda s: s.attention_backend is None and s.model.architecture in LLAMA4 and cuda_major(s) == 10,
        "trtllm_mha",
        versions="0.5.5..0.5.5",
    ),
    _default("A1-gemma4", _is(*_GEMMA4), "triton", versions="0.5.12..0.5.12"),
    _default("A1-gemma4", _is_alone(*_GEMMA4), _by_major(m10="trtllm_mha", other="triton"), versions="0.5.15.."),
    _default(
        "A1-olmo2",
        _is_alone("Olmo2ForCausalLM"),
        lambda s: {10: "trtllm_mha"}.get(cuda_major(s), "fa3" if cuda_major(s) >= 8 else "triton"),
    ),
    _default(
        "A1-exaone4",
        _is_alone(*_EXAONE),
        lambda s: {10: "trtllm_mha"}.get(cuda_major(s), "fa3" if cuda_major(s) >= 8 else "triton"),
        versions="0.5.23..",
    ),
    _default(
        "A1-qwen-hybrid",
        lambda s: s.attention_backend is None and s.model.architecture in QWEN_HYBRID and cuda_major(s) == 10,
        _qwen_hybrid,
        versions="0.5.8..",
    ),
    _default(
        "A1-qwen-hybrid-page",
        lambda s: s.model.architecture in QWEN_HYBRID and cuda_major(s) == 10 and not s.given("attention-backend"),
        lambda s: 64 if s.attention_backend == "trtllm_mha" else 1,
        versions="0.5.15..",
        sets="page-size",
        order=21,
    ),
    _default(
        "A1-nemotron",
        lambda s: s.attention_backend is None and s.model.architecture in _NEMOTRON_H and cuda_major(s) == 10,
        "flashinfer",
        versions="0.5.8..0.5.12",
    ),
    _default(
        "A1-nemotron",
        lambda s: attention_unset(s) and s.model.architecture in _NEMOTRON_H and cuda_major(s) == 10,
        lambda s: "trtllm_mha" if s.speculative_algorithm is None or s.speculative_eagle_topk in (None, 1) else "triton",
        versions="0.5.15..",
    ),
    _default(
        "A1-hybrid",
        lambda s: s.attention_backend is None and s.model.architecture in _OTHER_HYBRID and cuda_major(s) == 10,
        "triton",
        versions="0.5.8..",
    ),
    _default(
        "A1-lfm2",
        lambda s: s.attention_backend is None and s.model.architecture == "Lfm2ForCausalLM" and cuda_major(s) == 10,
        "flashinfer",
        versions="0.5.9..",
    ),
    _default(
        "A1-qwen3-vl",
        lambda s: s.attention_backend is None and s.decode_attention_backend is None and _large_hopper_qwen3_vl(s),
        "flashinfer",
        versions="0.5.23..",
        sets="decode-attention-backend",
    ),
)

_COMPATIBILITY = "srt/server_args.py `_handle_attention_backend_compatibility` (0.5.20: srt/arg_groups/attention_hook.py)"

ROWS = (
    Row(
        "A3",
        SETS,
        when=lambda s: s.prefill_attention_backend is not None and s.prefill_attention_backend == s.decode_attention_backend,
        versions="0.5.5..",
        sets="attention-backend",
        value=lambda s: s.prefill_attention_backend,
        source=_COMPATIBILITY,
        order=10,
    ),
    Row(
        "A1",
        SETS,
        when=lambda s: s.attention_backend is None,
        versions="0.5.5..",
        sets="attention-backend",
        value=default_backend,
        source=_COMPATIBILITY,
        order=11,
    ),
    Row(
        "A30",
        SETS,
        when=lambda s: not s.disable_radix_cache and s.model.architecture == "WhisperForConditionalGeneration",
        versions="0.5.10..",
        sets="disable-radix-cache",
        value=True,
        origin=MODEL_OVERRIDE,
        source=_COMPATIBILITY,
        order=22,
    ),
    Row(
        "A19",
        SETS,
        when=lambda s: s.page_size is None,
        versions="0.4.10..",
        sets="page-size",
        value=1,
        source="srt/server_args.py, page-size handler",
        step="page-size",
    ),
)


def _deepseek(s: State) -> frozenset[str]:
    """The family that takes trtllm_mla on SM100, as a release knows it."""
    if not at_least(s, "0.5.8"):
        return frozenset({"DeepseekV3ForCausalLM"})
    if not at_least(s, "0.5.9"):
        return frozenset({"DeepseekV3ForCausalLM", "MistralLarge3ForCausalLM", "PixtralForConditionalGeneration"})
    return DEEPSEEK_FAMILY
