"""The rows that fill in MoE runner, expert parallelism, dispatch and quantization; what they follow is in `experts.py`.

Read in the wheels 0.4.6.post5 to 0.5.23: srt/server_args.py, model-specific and MoE handlers; from 0.5.15 on
srt/arg_groups/overrides.py, moe_hook.py, parallel_hook.py and model_overrides/.
"""

from __future__ import annotations

from typing import Any

from preflight.engines.sglang.experts import (
    SPANNING,
    checkpoint_method,
    draft_moe,
    model_runner,
    mxfp8_runners,
    nemotron,
    separates_shared_experts,
    takes_checkpoint_method,
)
from preflight.engines.sglang.facts import at_least, checkpoint_quantization, config_quantization, cuda_major, quantization
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, State

_V4 = ("DeepseekV4ForCausalLM",)


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
