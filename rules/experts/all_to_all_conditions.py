"""The all-to-all backend asks for something that the launch does not have.

## What it does
Finds `moe-a2a-backend` values whose conditions on attention replicas, GPUs, models and overlap are not met.

## Why
Some dispatchers need one attention replica per rank, or at least two; MegaMoE runs on SM90 and SM100 only; several have no
split of dispatch and combine and so no two-batch overlap. SGLang refuses each before loading.

## Fix
Unsafe: another dispatcher is another performance.

## Source
sglang 0.5.15.post1 srt/server_args.py; 0.5.23 srt/arg_groups/moe_hook.py, mega_moe_hook.py.
"""

from preflight.engines.sglang.facts import at_least, attention_dp, cuda_major, dp_attention, on_amd, quantization
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MOE005", "all-to-all-conditions", "sglang", "a2a")

_SOURCE = "srt/arg_groups/moe_hook.py"
_FIX = (Set("moe-a2a-backend", None),)
_MEGAMOE_MODELS = frozenset(
    {
        "BeamForCausalLM",
        "DeepseekV2ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "DeepseekV4ForCausalLM",
        "Glm4MoeForCausalLM",
        "GlmMoeDsaForCausalLM",
        "NemotronHForCausalLM",
        "NemotronHPuzzleForCausalLM",
        "Qwen2MoeForCausalLM",
        "Qwen3MoeForCausalLM",
        "KimiK3ForConditionalGeneration",
        "KimiK3LinearForCausalLM",
    }
)


def _one_replica_per_rank(s: State) -> bool:
    return dp_attention(s) and attention_dp(s) == s.tp_size


def _overlaps(s: State) -> bool:
    return bool(s.enable_two_batch_overlap or s.enable_single_batch_overlap)


def _megamoe_fault(s: State) -> str | None:
    if s.moe_a2a_backend != "flashinfer_megamoe":
        return None
    if s.model.architecture not in _MEGAMOE_MODELS:
        return f"is not made for {s.model.architecture}"
    if quantization(s) not in ("mxfp8", "modelopt_fp4") and not _other_fp4(s):
        return "needs quantization mxfp8 or modelopt_fp4"
    if not _one_replica_per_rank(s):
        return "needs one attention replica per rank (attn-dp-size = tp-size)"
    return None if cuda_major(s) == 10 else "needs an SM100 GPU"


def _other_fp4(s: State) -> bool:
    """FP4 experts inside another format, which only DeepSeek-V4 checkpoints are known to have."""
    if s.model.architecture == "DeepseekV4ForCausalLM":
        return True
    return quantization(s) == "nvfp4_online" and s.flag("SGLANG_FLASHINFER_CUTEDSL_NVFP4_W4A16")


ROWS = (
    Row(
        "E9",
        REFUSES,
        when=lambda s: (
            s.moe_a2a_backend == "flashinfer"
            and not _one_replica_per_rank(s)
            and s.model.architecture != "MuseSparkForConditionalGeneration"
        ),
        versions="0.5.15..",
        says="moe-a2a-backend flashinfer needs one attention replica per rank: DP attention of size tp-size, {tp_size}.",
        at="moe-a2a-backend",
        fix=_FIX,
        source=_SOURCE,
        order=42,
        bad="--moe-a2a-backend flashinfer --moe-runner-backend flashinfer_cutlass --tp-size 8 @ 0.5.18 8x-h200 deepseek-v3",
        good="--enable-dp-attention --dp-size 8",
    ),
    Row(
        "E13",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "pplx" and not (dp_attention(s) and attention_dp(s) >= 2),
        versions="0.5.18..",
        says="moe-a2a-backend pplx needs at least 2 attention replicas. Turn DP attention on, or use deepep.",
        at="moe-a2a-backend",
        fix=(Set("moe-a2a-backend", "deepep"),),
        source=_SOURCE,
        order=42,
    ),
    Row(
        "E14",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "megamoe" and _overlaps(s),
        versions="0.5.18..",
        says="moe-a2a-backend megamoe has no batch overlap. Leave the overlap flags out.",
        at="moe-a2a-backend",
        fix=(Set("enable-two-batch-overlap", None), Set("enable-single-batch-overlap", None)),
        source="srt/arg_groups/mega_moe_hook.py",
        step="early",
        order=6,
    ),
    Row(
        "E14",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "megamoe" and not on_amd(s) and cuda_major(s) not in (9, 10),
        versions="0.5.23..",
        says="moe-a2a-backend megamoe needs an SM90 or SM100 GPU, not {gpu__gpu}. Use deepep or none.",
        at="moe-a2a-backend",
        fix=_FIX,
        source="srt/arg_groups/mega_moe_hook.py",
        step="early",
        order=7,
    ),
    Row(
        "E12",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "deepep_v2" and (_overlaps(s) or bool(s.enforce_shared_experts_fusion)),
        versions="0.5.20..",
        says="moe-a2a-backend deepep_v2 has neither batch overlap nor fused shared experts. Leave those flags out.",
        at="moe-a2a-backend",
        fix=(
            Set("enable-two-batch-overlap", None),
            Set("enable-single-batch-overlap", None),
            Set("enforce-shared-experts-fusion", None),
        ),
        source=_SOURCE,
        order=50,
    ),
    Row(
        "E12",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "deepep_v2" and s.deepep_v2_mode == "direct" and s.nnodes > 1,
        versions="0.5.20..",
        says="deepep-v2-mode direct stays inside one node, but nnodes is {nnodes}. Use hybrid.",
        at="deepep-v2-mode",
        fix=(Set("deepep-v2-mode", "hybrid"),),
        source=_SOURCE,
        order=51,
    ),
    Row(
        "E15",
        REFUSES,
        when=lambda s: _megamoe_fault(s) is not None,
        versions="0.5.20..",
        says=lambda s: f"moe-a2a-backend flashinfer_megamoe {_megamoe_fault(s)}. Use another.",
        at="moe-a2a-backend",
        fix=_FIX,
        source=_SOURCE,
        order=20,
    ),
    Row(
        "E17",
        REFUSES,
        when=lambda s: s.flashinfer_a2a_dispatch_type not in (None, "auto") and s.moe_a2a_backend != "flashinfer",
        versions="0.5.20..",
        says="flashinfer-a2a-dispatch-type needs moe-a2a-backend flashinfer, not {moe_a2a_backend}. Leave it out.",
        at="flashinfer-a2a-dispatch-type",
        fix=(Set("flashinfer-a2a-dispatch-type", None),),
        source=_SOURCE,
        order=18,
    ),
    Row(
        "E17",
        REFUSES,
        when=lambda s: (
            s.moe_a2a_backend == "flashinfer"
            and s.flashinfer_a2a_dispatch_type is not None
            and s.env("SGLANG_MOE_NVFP4_DISPATCH") is not None
        ),
        versions="0.5.20..",
        says="flashinfer-a2a-dispatch-type and SGLANG_MOE_NVFP4_DISPATCH exclude each other. Unset the variable.",
        at="flashinfer-a2a-dispatch-type",
        source=_SOURCE,
        order=46,
    ),
    Row(
        "E17",
        REFUSES,
        when=lambda s: (
            s.moe_a2a_backend == "flashinfer" and s.flashinfer_a2a_dispatch_type == "mxfp8" and quantization(s) != "mxfp8"
        ),
        versions="0.5.20..",
        says="flashinfer-a2a-dispatch-type mxfp8 needs quantization mxfp8. Use auto.",
        at="flashinfer-a2a-dispatch-type",
        fix=(Set("flashinfer-a2a-dispatch-type", "auto"),),
        source=_SOURCE,
        order=47,
    ),
    Row(
        "B1",
        REFUSES,
        when=lambda s: (
            s.enable_two_batch_overlap and s.moe_a2a_backend == "none" and not (at_least(s, "0.5.15") and dp_attention(s))
        ),
        versions="0.5.8..",
        says="enable-two-batch-overlap overlaps an all-to-all, but moe-a2a-backend is none. Use deepep, or leave it out.",
        at="enable-two-batch-overlap",
        fix=(Set("enable-two-batch-overlap", None), Set("moe-a2a-backend", "deepep")),
        source="srt/server_args.py check_server_args",
        step="checks",
        order=80,
        bad="--enable-two-batch-overlap --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--moe-a2a-backend deepep",
    ),
)
