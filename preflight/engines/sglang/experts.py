"""What SGLang picks for experts and quantised weights: MoE runner, expert parallelism, dispatch, fused shared experts.

Read in the wheels 0.4.6.post5 to 0.5.23: srt/server_args.py, model-specific and MoE handlers; from 0.5.15 on
srt/arg_groups/overrides.py, moe_hook.py, parallel_hook.py and model_overrides/.
"""

from __future__ import annotations

from typing import Any

from preflight.engines.sglang.attention import DEEPSEEK_FAMILY, LLAMA4, QWEN_HYBRID
from preflight.engines.sglang.facts import (
    algorithm,
    at_least,
    checkpoint_quantization,
    config_quantization,
    cuda_major,
    quantization,
)
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, State

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
_V4 = ("DeepseekV4ForCausalLM",)
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


def _places_experts(s: State) -> bool:
    """Whether experts are placed by a plan; up to 0.5.5 the trivial one counts as such."""
    if not at_least(s, "0.5.8"):
        return s.init_expert_location is not None
    return s.init_expert_location not in (None, "trivial")


def _fp4_experts(s: State) -> bool:
    """DeepSeek-V4 with its own MXFP4 experts, where a runner for them is picked."""
    if s.model.architecture not in _V4 or s.moe_runner_backend != "auto" or s.moe_a2a_backend != "none":
        return False
    experts = [shard for shard in s.model.components if "experts" in shard.shard]
    return any(shard.format == "mxfp4" for shard in experts) and cuda_major(s) in (9, 10, 12)


def _draft_kernels(s: State) -> tuple[str, str]:
    return ("deep_gemm", "deepep") if s.flag("SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE") else ("triton", "none")


_MODEL = "srt/server_args.py, model-specific handler (0.5.15: srt/arg_groups/overrides.py)"
_MOE = "srt/server_args.py, MoE handlers (0.5.20: srt/arg_groups/moe_hook.py, parallel_hook.py)"


def _row(name: str, when: Any, sets: Any, value: Any, versions: str, step: str, order: int = 50) -> Row:
    return Row(
        name,
        SETS,
        when=when,
        versions=versions,
        sets=sets,
        value=value,
        origin=MODEL_OVERRIDE if step == "model" else "engine-default",
        source=_MODEL if step == "model" else _MOE,
        step=step,
        order=order,
    )


EXPERT_ROWS = (
    _row("E1-ep", lambda s: bool(s.enable_ep_moe), "ep-size", lambda s: s.tp_size, "..0.4.6", "early", 40),
    _row("E1-ep", lambda s: bool(s.enable_ep_moe), "ep-size", lambda s: s.tp_size, "0.5.2..0.5.2", "early", 40),
    _row("E1-deepep", lambda s: bool(s.enable_deepep_moe), "ep-size", lambda s: s.tp_size, "..0.4.10", "a2a", 10),
    _row("E1-flag", lambda s: bool(s.enable_deepep_moe), "moe-a2a-backend", "deepep", "0.5.2..0.5.2", "early", 40),
    _row(
        "E-flag", lambda s: bool(s.enable_triton_kernel_moe), "moe-runner-backend", "triton_kernel", "0.5.2..0.5.2", "early", 40
    ),
    _row(
        "E-flag",
        lambda s: bool(s.enable_flashinfer_cutlass_moe),
        "moe-runner-backend",
        "flashinfer_cutlass",
        "0.5.2..0.5.2",
        "early",
        41,
    ),
    _row(
        "E-flag",
        lambda s: bool(s.enable_flashinfer_trtllm_moe),
        "moe-runner-backend",
        "flashinfer_trtllm",
        "0.5.2..0.5.2",
        "early",
        42,
    ),
    _row(
        "E-flag",
        lambda s: bool(s.enable_flashinfer_mxfp4_moe),
        "moe-runner-backend",
        "flashinfer_mxfp4",
        "0.5.2..0.5.2",
        "early",
        43,
    ),
    _row(
        "S17",
        lambda s: s.speculative_draft_model_quantization is None,
        "speculative-draft-model-quantization",
        lambda s: s.quantization,
        "0.5.8..",
        "early",
        60,
    ),
    _row(
        "S17",
        lambda s: s.speculative_draft_model_quantization == "unquant",
        "speculative-draft-model-quantization",
        None,
        "0.5.8..",
        "early",
        61,
    ),
    _row("Q-unquant", lambda s: s.quantization == "unquant", "quantization", None, "0.5.12..", "checks", 1),
    _row("Q4", takes_checkpoint_method, "quantization", checkpoint_method, "0.5.5..", "model", 40),
    _row(
        "Q4-nemotron",
        lambda s: s.quantization is None and nemotron(s),
        "quantization",
        checkpoint_quantization,
        "0.5.8..",
        "model",
        40,
    ),
    _row(
        "E7",
        lambda s: s.moe_runner_backend == "auto" and model_runner(s) is not None,
        "moe-runner-backend",
        model_runner,
        "0.5.2..",
        "model",
        42,
    ),
    _row(
        "E7-v4",
        _fp4_experts,
        "moe-runner-backend",
        "flashinfer_mxfp4",
        "0.5.20..",
        "model",
        28,
    ),
    _row(
        "X-v4",
        lambda s: s.model.architecture in _V4 and s.max_running_requests is None,
        "max-running-requests",
        256,
        "0.5.12..",
        "model",
        28,
    ),
    _row(
        "X8",
        lambda s: (
            s.load_format == "remote_instance"
            and (
                s.remote_instance_weight_loader_seed_instance_ip is None
                or s.remote_instance_weight_loader_seed_instance_service_port is None
            )
        ),
        "load-format",
        "auto",
        "0.5.5..",
        "load-format",
        20,
    ),
    _row(
        "S18",
        draft_moe,
        ("speculative-moe-runner-backend", "speculative-moe-a2a-backend"),
        _draft_kernels,
        "0.5.8..0.5.10",
        "model",
        44,
    ),
    _row(
        "E23",
        lambda s: s.moe_runner_backend == "megamoe",
        ("moe-runner-backend", "moe-a2a-backend"),
        ("auto", "megamoe"),
        "0.5.18..",
        "early",
        5,
    ),
    _row(
        "Q6",
        lambda s: s.moe_runner_backend == "auto" and quantization(s) == "mxfp8",
        "moe-runner-backend",
        lambda s: mxfp8_runners(s)[1],
        "0.5.9..",
        "moe",
        10,
    ),
    _row(
        "Q7",
        lambda s: s.moe_runner_backend == "auto" and quantization(s) == "nvfp4_online",
        "moe-runner-backend",
        "flashinfer_trtllm",
        "0.5.15..",
        "moe",
        9,
    ),
    _row(
        "E8",
        lambda s: (
            s.moe_runner_backend == "auto"
            and quantization(s) == "modelopt_fp4"
            and cuda_major(s) in ((11, 12) if at_least(s, "0.5.23") else (12,))
        ),
        "moe-runner-backend",
        "flashinfer_cutlass",
        "0.5.15..",
        "moe",
        12,
    ),
    _row("E3-fusion", separates_shared_experts, "disable-shared-experts-fusion", True, "0.5.2..", "moe", 30),
    _row(
        "E9-fusion",
        lambda s: s.moe_a2a_backend in ("flashinfer", "flashinfer_megamoe", "deepep_v2"),
        "disable-shared-experts-fusion",
        True,
        "0.5.9..",
        "a2a",
        14,
    ),
    _row(
        "E16-fusion",
        lambda s: s.enable_waterfill and s.moe_a2a_backend in ("deepep", "megamoe"),
        ("disable-shared-experts-fusion", "enforce-shared-experts-fusion"),
        (False, True),
        "0.5.12..",
        "a2a",
        14,
    ),
    _row(
        "E1",
        lambda s: s.moe_a2a_backend in SPANNING and not s.given("ep-size"),
        "ep-size",
        lambda s: s.tp_size,
        "0.5.2..",
        "a2a",
        10,
    ),
    _row(
        "E11",
        lambda s: s.moe_a2a_backend == "pplx" and s.deepep_mode == "auto",
        "deepep-mode",
        "low_latency",
        "0.5.18..",
        "a2a",
        40,
    ),
    _row("E10", lambda s: s.moe_a2a_backend == "mori" and s.deepep_mode == "auto", "deepep-mode", "normal", "0.5.9..", "a2a", 40),
    _row(
        "E13",
        lambda s: s.moe_a2a_backend in ("pplx", "deepep_v2") and s.moe_runner_backend == "auto",
        "moe-runner-backend",
        "deep_gemm",
        "0.5.18..",
        "a2a",
        44,
    ),
    _row(
        "E15",
        lambda s: s.moe_a2a_backend == "flashinfer_megamoe" and s.moe_runner_backend == "auto",
        "moe-runner-backend",
        "flashinfer_megamoe",
        "0.5.20..",
        "a2a",
        44,
    ),
    _row(
        "E19",
        lambda s: s.enable_eplb and s.expert_distribution_recorder_mode is None,
        "expert-distribution-recorder-mode",
        "stat",
        "0.4.10..",
        "eplb",
        10,
    ),
    _row(
        "E19",
        lambda s: s.ep_dispatch_algorithm is None and (bool(s.enable_eplb) or _places_experts(s)),
        "ep-dispatch-algorithm",
        lambda s: "dynamic" if at_least(s, "0.5.18") and s.moe_a2a_backend == "none" else "static",
        "0.4.10..",
        "eplb",
        12,
    ),
    _row(
        "E19-metrics",
        lambda s: s.enable_expert_distribution_metrics and s.expert_distribution_recorder_mode is None,
        "expert-distribution-recorder-mode",
        "stat",
        "0.4.10..0.5.18",
        "eplb",
        20,
    ),
    _row(
        "E20",
        lambda s: s.elastic_ep_backend is not None and bool(s.enable_eplb) and s.eplb_algorithm == "auto",
        "eplb-algorithm",
        "elasticity_aware",
        "0.5.5..",
        "elastic",
        10,
    ),
    _row(
        "Q11",
        lambda s: s.model.architecture == "GptOssForCausalLM" and config_quantization(s) == "mxfp4",
        "dtype",
        "bfloat16",
        "0.5.2..",
        "model",
        46,
    ),
    _row(
        "Q11-mistral",
        lambda s: s.model.architecture in ("MistralLarge3ForCausalLM", "PixtralForConditionalGeneration"),
        "dtype",
        "bfloat16",
        "0.5.8..",
        "model",
        5,
    ),
    _row(
        "Q5",
        lambda s: str(s.model_path).lower().endswith(".gguf") and s.load_format in ("auto", "gguf"),
        ("quantization", "load-format"),
        ("gguf", "gguf"),
        "..",
        "load-format",
    ),
)
"""Rows that only fill in; what overrules or refuses a launch is in rules/experts and rules/quantization."""
