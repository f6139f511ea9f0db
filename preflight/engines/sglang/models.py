"""What SGLang sets for a model by its architecture, beside attention and experts: pools, requests, all-reduce fusion.

Read in srt/server_args.py, model-specific handler (0.5.2 to 0.5.12); srt/arg_groups/overrides.py and model_overrides/
(0.5.15 to 0.5.23).
"""

from __future__ import annotations

from preflight.engines.sglang.facts import at_least, cuda_major, dp_groups
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, State

_ONE_POOL = frozenset(
    {
        "Gemma2ForCausalLM",
        "Gemma3ForCausalLM",
        "Gemma3ForConditionalGeneration",
        "Gemma3nForCausalLM",
        "Gemma3nForConditionalGeneration",
        "Olmo2ForCausalLM",
    }
)
_FUSED_0_5_8 = frozenset(
    {"DeepseekV3ForCausalLM", "GptOssForCausalLM", "Glm4MoeForCausalLM", "Glm4MoeLiteForCausalLM", "Qwen3MoeForCausalLM"}
)
_FUSED_0_5_9 = _FUSED_0_5_8 | {"KimiK25ForConditionalGeneration"}
_FUSED_0_5_10 = _FUSED_0_5_9 | {"Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration"}
_FUSED_0_5_12 = _FUSED_0_5_10 | {
    "DeepseekV32ForCausalLM",
    "GlmMoeDsaForCausalLM",
    "Qwen3NextForCausalLM",
    "InternS2PreviewForConditionalGeneration",
}
_FUSED_0_5_15 = _FUSED_0_5_12 | {
    "MistralLarge3ForCausalLM",
    "Qwen3VLMoeForConditionalGeneration",
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
}
_FUSED_0_5_18 = _FUSED_0_5_15 | {"DeepseekV4ForCausalLM"}
_FUSED_0_5_20 = _FUSED_0_5_18 | {"Qwen4ExpForConditionalGeneration", "NemotronH_Omni_Reasoning_V3"}
_FUSED = (
    ("0.5.20", _FUSED_0_5_20),
    ("0.5.18", _FUSED_0_5_18),
    ("0.5.15", _FUSED_0_5_15),
    ("0.5.12", _FUSED_0_5_12),
    ("0.5.10", _FUSED_0_5_10),
    ("0.5.9", _FUSED_0_5_9),
    ("0.5.8", _FUSED_0_5_8),
)
_MIMO = frozenset({"MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM"})


def _fused(s: State) -> bool:
    """Whether the release fuses all-reduce and norm for this architecture."""
    names = next((names for version, names in _FUSED if at_least(s, version)), frozenset[str]())
    return s.model.architecture in names


def _h20(s: State) -> bool:
    name = str(s.gpu.known("gpu") or "").upper().replace("-", " ")
    return "H20" in name and "H200" not in name


def fusion(s: State) -> bool:
    """0.5.8 to 0.5.12: whether the fusion is turned on."""
    if s.enable_flashinfer_allreduce_fusion or not _fused(s) or cuda_major(s) not in (9, 10):
        return False
    if at_least(s, "0.5.10") and s.tp_size <= 1:
        return False
    if at_least(s, "0.5.10") and not at_least(s, "0.5.12") and s.attn_cp_size > 1:
        return False
    return bool(not s.enable_dp_attention and s.nnodes == 1 and s.moe_a2a_backend == "none" and not _h20(s))


def _early_fusion(s: State) -> bool:
    """0.5.2 and 0.5.5, on Blackwell."""
    architecture = s.model.architecture
    if s.enable_dp_attention or (at_least(s, "0.5.5") and s.nnodes != 1):
        return False
    if architecture == "GptOssForCausalLM":
        return cuda_major(s) in ((10, 11, 12) if at_least(s, "0.5.5") else (10,))
    return architecture == "DeepseekV3ForCausalLM" and at_least(s, "0.5.5") and cuda_major(s) == 10


def fusion_backend(s: State) -> str | None:
    """0.5.15 on: the backend that an unset flag becomes; None where the fusion stays off."""
    if cuda_major(s) not in (9, 10) or s.tp_size <= 1 or dp_groups(s) > 1 or s.moe_a2a_backend != "none":
        return None
    if not at_least(s, "0.5.23") and s.enable_dp_attention:
        return None
    if s.nnodes != 1 and cuda_major(s) != 10:
        return None
    if at_least(s, "0.5.23") and s.model.architecture in _MIMO:
        return "cutedsl" if cuda_major(s) == 10 and s.attn_cp_size == 1 and not s.encoder_only and not s.enable_pdmux else None
    return "auto" if _fused(s) else None


def _one_pool(s: State) -> bool:
    architecture = s.model.architecture
    if architecture in _ONE_POOL:
        return True
    if architecture == "GptOssForCausalLM":
        if not at_least(s, "0.5.9"):
            return not at_least(s, "0.5.8") or s.attention_backend == "trtllm_mha"
        return not at_least(s, "0.5.10") and "trtllm_mha" in (
            s.attention_backend,
            s.decode_attention_backend,
            s.prefill_attention_backend,
        )
    return False


_MODEL = "srt/server_args.py, model-specific handler"
_FUSION = "srt/server_args.py, model-specific handler (0.5.15: srt/arg_groups/overrides.py)"

ROWS = (
    Row(
        "X7",
        SETS,
        when=_one_pool,
        versions="0.5.2..",
        sets="disable-hybrid-swa-memory",
        value=True,
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=60,
    ),
    Row(
        "X7-ratio",
        SETS,
        when=lambda s: s.swa_full_tokens_ratio in (None, 0.8) and s.model.architecture == "DeepseekV4ForCausalLM",
        versions="0.5.12..",
        sets="swa-full-tokens-ratio",
        value=0.1,
        origin=MODEL_OVERRIDE,
        source="srt/arg_groups/deepseek_v4_hook.py",
        order=60,
    ),
    Row(
        "X7-requests",
        SETS,
        when=lambda s: s.max_running_requests is None and s.model.architecture == "DeepseekV4ForCausalLM",
        versions="0.5.12..",
        sets="max-running-requests",
        value=256,
        origin=MODEL_OVERRIDE,
        source="srt/arg_groups/deepseek_v4_hook.py",
        order=30,
    ),
    Row(
        "R7-early",
        SETS,
        when=lambda s: not s.enable_flashinfer_allreduce_fusion and _early_fusion(s),
        versions="0.5.2..0.5.5",
        sets="enable-flashinfer-allreduce-fusion",
        value=True,
        origin=MODEL_OVERRIDE,
        source=_FUSION,
        order=80,
    ),
    Row(
        "R7",
        SETS,
        when=fusion,
        versions="0.5.8..0.5.12",
        sets="enable-flashinfer-allreduce-fusion",
        value=True,
        origin=MODEL_OVERRIDE,
        source=_FUSION,
        order=90,
    ),
    Row(
        "R7-flag",
        SETS,
        when=lambda s: s.flashinfer_allreduce_fusion_backend is None and bool(s.enable_flashinfer_allreduce_fusion),
        versions="0.5.15..",
        sets="flashinfer-allreduce-fusion-backend",
        value="auto",
        source="srt/server_args.py, deprecated arguments",
        step="early",
        order=80,
    ),
    Row(
        "R7-backend",
        SETS,
        when=lambda s: s.flashinfer_allreduce_fusion_backend is None and fusion_backend(s) is not None,
        versions="0.5.15..",
        sets="flashinfer-allreduce-fusion-backend",
        value=fusion_backend,
        origin=MODEL_OVERRIDE,
        source=_FUSION,
        order=90,
    ),
    Row(
        "R9",
        SETS,
        when=lambda s: bool(s.enforce_disable_flashinfer_allreduce_fusion) and bool(s.enable_flashinfer_allreduce_fusion),
        versions="0.5.10..0.5.12",
        sets="enable-flashinfer-allreduce-fusion",
        value=False,
        source=_FUSION,
        order=91,
    ),
    Row(
        "R9-backend",
        SETS,
        when=lambda s: bool(s.enforce_disable_flashinfer_allreduce_fusion),
        versions="0.5.15..",
        sets="flashinfer-allreduce-fusion-backend",
        value=None,
        source=_FUSION,
        order=91,
    ),
)
