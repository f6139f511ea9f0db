"""What SGLang picks for experts and quantised weights: MoE runner, expert parallelism, dispatch, fused shared experts.

Read in the wheels 0.4.6.post5 to 0.5.23: srt/server_args.py, model-specific and MoE handlers; from 0.5.15 on
srt/arg_groups/overrides.py, moe_hook.py, parallel_hook.py and model_overrides/.
"""

from __future__ import annotations

from preflight.engines.sglang.attention import DEEPSEEK_FAMILY, LLAMA4, QWEN_HYBRID
from preflight.engines.sglang.facts import (
    algorithm,
    at_least,
    checkpoint_quantization,
    config_quantization,
    cuda_major,
    quantization,
)
from preflight.engines.steps import State

_DEEPSEEK_0_5_8 = frozenset(
    {
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "MistralLarge3ForCausalLM",
        "PixtralForConditionalGeneration",
        "GlmMoeDsaForCausalLM",
    }
)
_QWEN_MOE = frozenset({"Qwen3MoeForCausalLM", "Qwen3VLMoeForConditionalGeneration", "Qwen4ExpForConditionalGeneration"})
_NEMOTRON_H = frozenset({"NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Omni_Reasoning_V3"})
_GEMMA4 = frozenset({"Gemma4ForConditionalGeneration", "Gemma4ForCausalLM", "Gemma4UnifiedForConditionalGeneration"})
_MIMO_V2 = frozenset({"MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM"})
SPANNING = frozenset(
    {
        "deepep",
        "mooncake",
        "ascend_fuseep",
        "flashinfer",
        "mori",
        "nixl",
        "megamoe",
        "deepep_v2",
        "pplx",
        "flashinfer_megamoe",
    }
)
"""All-to-all backends whose experts are spread over all tensor-parallel ranks, whatever ep-size says."""


def deepseek_moe(s: State) -> bool:
    """Whether the release quantises and runs this model's experts as DeepSeek's."""
    architecture = s.model.architecture
    if not at_least(s, "0.5.8"):
        return architecture in ("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM")
    return architecture in (DEEPSEEK_FAMILY if at_least(s, "0.5.9") else _DEEPSEEK_0_5_8)


def qwen_moe(s: State) -> bool:
    return s.model.architecture in _QWEN_MOE | QWEN_HYBRID


def nemotron(s: State) -> bool:
    return s.model.architecture in _NEMOTRON_H and str(checkpoint_quantization(s)).startswith("modelopt")


def takes_checkpoint_method(s: State) -> bool:
    """Whether the release fills `quantization` in from the checkpoint's config.json, on SM100."""
    if s.quantization is not None:
        return False
    early = not at_least(s, "0.5.8")
    family = (s.model.architecture == "DeepseekV3ForCausalLM" if early else deepseek_moe(s)) or (
        at_least(s, "0.5.8") and (qwen_moe(s) or s.model.architecture == "Glm4MoeForCausalLM")
    )
    return family and cuda_major(s) == 10


def checkpoint_method(s: State) -> str | None:
    """The method filled in. Up to 0.5.10 DeepSeek V3 without one counts as FP8."""
    declared = config_quantization(s)
    if declared is None and s.model.architecture == "DeepseekV3ForCausalLM" and not at_least(s, "0.5.12"):
        return "fp8"
    return declared


def model_runner(s: State) -> str | None:
    """The MoE runner that a release picks for a model; None where it leaves it open."""
    architecture = s.model.architecture
    if architecture == "GptOssForCausalLM":
        return _gpt_oss_runner(s)
    if architecture in _NEMOTRON_H and at_least(s, "0.5.8"):
        return _nemotron_runner(s)
    wanted = _on_sm100(s)
    return wanted if wanted is not None and cuda_major(s) == 10 else None


def _on_sm100(s: State) -> str | None:
    """What is picked on SM100, by the method asked for or found."""
    architecture, method = s.model.architecture, quantization(s)
    if architecture in LLAMA4:
        return "flashinfer_trtllm" if at_least(s, "0.5.5") and method in ("fp8", "modelopt_fp8") else None
    if architecture in _GEMMA4:
        fp4 = at_least(s, "0.5.15") and checkpoint_quantization(s) == "modelopt_fp4"
        return "flashinfer_trtllm" if fp4 else None
    if architecture in _MIMO_V2:
        return "flashinfer_trtllm" if at_least(s, "0.5.18") and config_quantization(s) == "fp8" else None
    if architecture == "MiniMaxM2ForCausalLM":
        fp4 = at_least(s, "0.5.18") and checkpoint_quantization(s) == "modelopt_fp4"
        return "flashinfer_trtllm_routed" if fp4 else None
    return "flashinfer_trtllm" if _takes_trtllm(s, method) and s.moe_a2a_backend == "none" else None


def _takes_trtllm(s: State, method: str | None) -> bool:
    architecture = s.model.architecture
    if deepseek_moe(s):
        if architecture.startswith("LongcatFlash") or not at_least(s, "0.5.5"):
            return False
        known = method in ("fp8", "modelopt_fp8", "modelopt_fp4") or (method == "modelopt_mixed" and at_least(s, "0.5.10"))
        return known or (at_least(s, "0.5.12") and method is None) or (at_least(s, "0.5.10") and _int4_groups(s))
    if not at_least(s, "0.5.8"):
        return False
    if architecture == "Glm4MoeForCausalLM":
        return method == "modelopt_fp4" or (at_least(s, "0.5.15") and method is None)
    if not qwen_moe(s) or (architecture.startswith("Qwen3_5") and not at_least(s, "0.5.9")):
        return False
    return method in ("fp8", "modelopt_fp4", None) or (method == "modelopt_mixed" and at_least(s, "0.5.23"))


def _int4_groups(s: State) -> bool:
    """Kimi K2's own INT4 recipe: compressed-tensors, groups of 32."""
    if config_quantization(s) != "compressed-tensors":
        return False
    return any(component.format == "int4-g32" for component in s.model.components)


def _gpt_oss_runner(s: State) -> str | None:
    if not at_least(s, "0.5.2"):
        return None
    mxfp4, major = config_quantization(s) == "mxfp4", cuda_major(s)
    if not at_least(s, "0.5.5"):
        return "flashinfer_mxfp4" if major == 10 and mxfp4 else "triton_kernel" if s.ep_size == 1 else None
    if not at_least(s, "0.5.8") and s.enable_piecewise_cuda_graph:
        return None
    if mxfp4 and major == 10:
        return "flashinfer_mxfp4"
    if mxfp4 and major == 12:
        if at_least(s, "0.5.18") or not at_least(s, "0.5.10"):
            return "flashinfer_mxfp4"
        return "marlin" if at_least(s, "0.5.15") else "triton_kernel"
    plain = quantization(s) is None or not at_least(s, "0.5.9")
    return "triton_kernel" if s.ep_size == 1 and plain else None


def _nemotron_runner(s: State) -> str | None:
    method = checkpoint_quantization(s)
    modelopt = str(method).startswith("modelopt")
    if not (modelopt or (method is None and at_least(s, "0.5.15"))):
        return None
    major = cuda_major(s)
    if at_least(s, "0.5.12") and major == 10 and s.moe_a2a_backend == "none":
        return "flashinfer_trtllm"
    fp4 = at_least(s, "0.5.15") and (method == "modelopt_fp4" or quantization(s) == "modelopt_fp4")
    return "marlin" if fp4 and major in (8, 9) else "flashinfer_cutlass"


MXFP8_RUNNERS = (
    # release from which, runners that mxfp8 takes besides auto, the one that replaces others
    ("0.5.9", ("cutlass",), "cutlass"),
    ("0.5.10", ("cutlass", "flashinfer_trtllm", "flashinfer_trtllm_routed"), "flashinfer_trtllm"),
    ("0.5.18", ("cutlass", "deep_gemm", "flashinfer_trtllm", "flashinfer_trtllm_routed"), "flashinfer_trtllm"),
    (
        "0.5.20",
        ("cutlass", "deep_gemm", "flashinfer_trtllm", "flashinfer_trtllm_routed", "flashinfer_megamoe"),
        "flashinfer_trtllm",
    ),
)


def mxfp8_runners(s: State) -> tuple[tuple[str, ...], str]:
    """The runners that mxfp8 takes, and the one that it falls back to."""
    allowed, fallback = next((row[1], row[2]) for row in reversed(MXFP8_RUNNERS) if at_least(s, row[0]))
    if at_least(s, "0.5.20") and s.moe_a2a_backend == "flashinfer_megamoe":
        fallback = "flashinfer_megamoe"
    return allowed, fallback


def separates_shared_experts(s: State) -> bool:
    """Whether the runner cannot take shared experts fused with the routed ones."""
    runner = s.moe_runner_backend
    if runner == "flashinfer_trtllm":
        return at_least(s, "0.5.2")
    if runner == "flashinfer_cutedsl":
        return at_least(s, "0.5.12")
    return runner in ("flashinfer_trtllm_routed", "experimental_sgl_trtllm") or str(runner).startswith("lora_")


def draft_moe(s: State) -> bool:
    """0.5.8 to 0.5.10: DeepSeek's FP4 checkpoints keep their draft layer in bf16, so the draft gets kernels of its own."""
    if algorithm(s) != "EAGLE" or quantization(s) != "modelopt_fp4":
        return False
    if s.speculative_moe_runner_backend is not None and s.speculative_moe_a2a_backend is not None:
        return False
    return deepseek_moe(s) and cuda_major(s) == 10
