"""The LoRA MoE runner's conditions are not met.

## What it does
Finds `moe-runner-backend lora_…` where SGLang refuses it.

## Why
These runners apply adapters inside the experts. They need LoRA with `lora-backend triton_v2`, weights in BF16, FP8 or (marlin)
NVFP4, plain dispatch and every expert in its own place.

## Fix
Unsafe: another runner serves experts without adapters.

## Source
sglang 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.engines.sglang.facts import dp_attention, quantization
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MOE008", "lora-moe-runner", "sglang", "checks")


def _fault(s: State) -> str | None:
    runner = str(s.moe_runner_backend)
    if not runner.startswith("lora"):
        return None
    if not (s.enable_lora or s.lora_paths):
        return "needs enable-lora or lora-paths"
    if s.lora_backend != "triton_v2":
        return "needs lora-backend triton_v2"
    method = quantization(s)
    if method not in (None, "fp8", "modelopt_fp4"):
        return f"does not run quantization {method}"
    if method == "modelopt_fp4" and runner != "lora_marlin":
        return "does not run modelopt_fp4: lora_marlin does"
    if s.moe_a2a_backend != "none":
        return f"does not work with moe-a2a-backend {s.moe_a2a_backend}"
    if s.enable_eplb or s.init_expert_location not in (None, "trivial") or (s.ep_num_redundant_experts or 0) > 0:
        return "does not work with EPLB or redundant experts"
    return _mode_fault(s)


def _mode_fault(s: State) -> str | None:
    if dp_attention(s):
        return "does not work with DP attention"
    for flag in ("enable-pdmux", "enable-two-batch-overlap"):
        if s.get(flag):
            return f"does not work with {flag}"
    return None


ROWS = (
    Row(
        "E22",
        REFUSES,
        when=lambda s: _fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"moe-runner-backend {s.moe_runner_backend} {_fault(s)}.",
        at="moe-runner-backend",
        fix=(Set("moe-runner-backend", None),),
        source="srt/arg_groups/lora_hook.py",
        order=41,
        bad="--moe-runner-backend lora_marlin --tp-size 8 @ 0.5.23 8x-h200 deepseek-v3",
        good="--no:moe-runner-backend",
    ),
)
