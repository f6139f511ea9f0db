"""The all-to-all backend and the MoE runner do not work together.

## What it does
Finds `moe-a2a-backend` values whose dispatch the `moe-runner-backend` cannot read.

## Why
A dispatcher hands tokens to the experts in its own layout. FlashInfer's works with its CUTLASS runner (later also CuTe DSL,
TensorRT-LLM and DeepGEMM), DeepEP v2 and pplx with DeepGEMM, flashinfer_megamoe with its own. The CuTe DSL runner reads
DeepEP's low-latency layout only.

## Fix
Unsafe: either side can give way.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/moe_hook.py.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("MOE004", "all-to-all-runner", "sglang", "a2a")

_SOURCE = "srt/arg_groups/moe_hook.py"


def _flashinfer_runners(s: State) -> tuple[str, ...]:
    runners: tuple[str, ...] = ("flashinfer_cutlass",)
    if at_least(s, "0.5.15"):
        runners += ("flashinfer_cutedsl", "flashinfer_trtllm_routed")
    if at_least(s, "0.5.20"):
        runners += ("flashinfer_trtllm", "deep_gemm")
    return runners


def _wanted(s: State) -> tuple[str, ...] | None:
    """The runners that the dispatcher works with, where the present one is not among them."""
    dispatch, runner = s.moe_a2a_backend, s.moe_runner_backend
    wanted: tuple[str, ...]
    if dispatch == "flashinfer":
        wanted = _flashinfer_runners(s)
    elif dispatch in ("deepep_v2", "pplx"):
        wanted = ("deep_gemm",)
    elif dispatch == "flashinfer_megamoe":
        wanted = ("flashinfer_megamoe",)
    else:
        return None
    return None if runner in wanted else wanted


ROWS = (
    Row(
        "E9",
        REFUSES,
        when=lambda s: _wanted(s) is not None,
        versions="0.5.9..",
        says=lambda s: (
            f"moe-a2a-backend {s.moe_a2a_backend} does not work with moe-runner-backend {s.moe_runner_backend}. "
            f"Use {' or '.join(_wanted(s) or ())}."
        ),
        at="moe-a2a-backend",
        fix=(Set("moe-runner-backend", lambda s: (_wanted(s) or ("auto",))[0]), Set("moe-a2a-backend", None)),
        source=_SOURCE,
        order=48,
        bad="--moe-a2a-backend flashinfer --moe-runner-backend triton --tp-size 8 @ 0.5.9 8x-b200 deepseek-v3",
        good="--no:moe-a2a-backend",
    ),
    Row(
        "E4",
        REFUSES,
        when=lambda s: (
            s.moe_runner_backend == "flashinfer_cutedsl"
            and s.moe_a2a_backend not in (("none", "deepep", "flashinfer") if at_least(s, "0.5.15") else ("none", "deepep"))
        ),
        versions="0.5.12..",
        says="moe-runner-backend flashinfer_cutedsl does not read the dispatch of {moe_a2a_backend}. Use deepep or none.",
        at="moe-a2a-backend",
        fix=(Set("moe-a2a-backend", None),),
        source=_SOURCE,
        step="moe",
        order=23,
    ),
    Row(
        "E11",
        REFUSES,
        when=lambda s: (
            s.moe_a2a_backend == "deepep" and s.moe_runner_backend == "flashinfer_cutedsl" and s.deepep_mode == "normal"
        ),
        versions="0.5.18..",
        says="moe-runner-backend flashinfer_cutedsl reads DeepEP's low-latency layout only, but "
        "deepep-mode is normal. Use low_latency.",
        at="deepep-mode",
        fix=(Set("deepep-mode", "low_latency"),),
        source=_SOURCE,
        order=30,
    ),
    Row(
        "E11",
        SETS,
        when=lambda s: s.moe_a2a_backend == "deepep" and s.moe_runner_backend == "flashinfer_cutedsl" and s.deepep_mode == "auto",
        versions="0.5.18..",
        sets="deepep-mode",
        value="low_latency",
        says="deepep-mode becomes low_latency: moe-runner-backend flashinfer_cutedsl has no kernel for the normal mode.",
        source=_SOURCE,
        order=31,
    ),
    Row(
        "E10",
        SETS,
        when=lambda s: s.moe_a2a_backend == "mori" and s.deepep_mode == "low_latency",
        versions="0.5.9..0.5.9",
        sets="deepep-mode",
        value="normal",
        says="deepep-mode becomes normal: MoRI has no other here.",
        source="srt/server_args.py",
        order=41,
    ),
    Row(
        "E13",
        REFUSES,
        when=lambda s: s.moe_a2a_backend == "pplx" and s.deepep_mode == "normal",
        versions="0.5.18..",
        says="moe-a2a-backend pplx has a low-latency mode only, but deepep-mode is normal. Leave it out.",
        at="deepep-mode",
        fix=(Set("deepep-mode", None),),
        source=_SOURCE,
        order=39,
    ),
    Row(
        "E16",
        SETS,
        when=lambda s: (
            s.enable_waterfill and s.moe_a2a_backend not in (("deepep", "megamoe") if at_least(s, "0.5.18") else ("deepep",))
        ),
        versions="0.5.12..",
        sets="moe-a2a-backend",
        value="deepep",
        says="enable-waterfill sets moe-a2a-backend to deepep. Write it out, or leave waterfill out.",
        source="srt/arg_groups/overrides.py",
        order=5,
    ),
)
