"""The MoE runner does not take this quantization.

## What it does
Compares `moe-runner-backend` with the `quantization` that is asked for.

## Why
Each FlashInfer runner has kernels for a few formats and asserts on the *value of `quantization`*, not on the checkpoint: an
FP8 checkpoint without the flag passes on Hopper, where the value stays unset. On SM100 SGLang fills the value in from the
checkpoint first, so the same launch is refused there.

## Fix
Unsafe: leaving the runner to SGLang takes one that fits.

## Source
sglang 0.5.2 to 0.5.18 srt/server_args.py; 0.5.20 and 0.5.23 srt/arg_groups/moe_hook.py.
"""

from preflight.engines.sglang.facts import at_least, quantization
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MOE002", "moe-runner-quantization", "sglang", "moe")

_CUTLASS = ("modelopt_fp4", "modelopt_fp8", None)
_TRTLLM = ("modelopt_fp4", "fp8", "modelopt_fp8", "compressed-tensors", None)
_TABLE: dict[str, tuple[tuple[str, tuple[str | None, ...]], ...]] = {
    # runner: release from which, the values of `quantization` that it takes
    "flashinfer_cutlass": (
        ("0.5.2", ("modelopt_fp4",)),
        ("0.5.8", _CUTLASS),
        ("0.5.10", ("modelopt_mixed", *_CUTLASS)),
    ),
    "flashinfer_trtllm": (
        ("0.5.2", ("modelopt_fp4", "fp8")),
        ("0.5.5", ("modelopt_fp4", "modelopt_fp8", "fp8")),
        ("0.5.8", _TRTLLM),
        ("0.5.10", ("mxfp8", "modelopt_mixed", *_TRTLLM)),
        ("0.5.15", ("nvfp4_online", "mxfp8", "modelopt_mixed", *_TRTLLM)),
    ),
    "experimental_sgl_trtllm": (("0.5.15", ("nvfp4_online", "mxfp8", "modelopt_mixed", *_TRTLLM)),),
    "flashinfer_trtllm_routed": (
        ("0.5.10", ("fp8", "mxfp8", None)),
        ("0.5.12", ("fp8", "mxfp8", "modelopt_fp4", None)),
        ("0.5.15", ("fp8", "mxfp8", "modelopt_fp4", "nvfp4_online", None)),
        ("0.5.18", ("fp8", "mxfp8", "modelopt_fp4", "modelopt_mixed", "nvfp4_online", None)),
        ("0.5.23", ("fp8", "mxfp8", "modelopt_fp4", "modelopt_mixed", "nvfp4_online", "minimax_m3_nvfp4", None)),
    ),
}


def _taken(s: State) -> tuple[str | None, ...] | None:
    """What the runner takes in this release; None where the release does not test it."""
    found = None
    for since, values in _TABLE.get(s.moe_runner_backend, ()):
        found = values if at_least(s, since) else found
    return found


def _refused(s: State) -> bool:
    taken = _taken(s)
    return taken is not None and quantization(s) not in taken


def _cutedsl_refused(s: State) -> bool:
    """A hybrid NVFP4 checkpoint passes as well, which only DeepSeek-V4 is known to be."""
    if s.moe_runner_backend != "flashinfer_cutedsl":
        return False
    taken = ("modelopt_fp4", "modelopt_mixed", "nvfp4_online") if at_least(s, "0.5.18") else ("modelopt_fp4",)
    return quantization(s) not in taken and s.model.architecture != "DeepseekV4ForCausalLM"


def _says(s: State) -> str:
    taken = [str(value) for value in (_taken(s) or ("modelopt_fp4",)) if value is not None]
    none = " or none" if None in (_taken(s) or ()) else ""
    method = quantization(s)
    what = "without quantization" if method is None else f"with quantization {method}"
    return (
        f"moe-runner-backend {s.moe_runner_backend} does not run {what}: it takes {', '.join(taken)}{none}. "
        "Use another runner, or leave the choice to SGLang."
    )


_FIX = (Set("moe-runner-backend", None),)
_SOURCE = "srt/arg_groups/moe_hook.py"

ROWS = (
    Row(
        "E2",
        REFUSES,
        when=lambda s: s.moe_runner_backend == "flashinfer_cutlass" and _refused(s),
        versions="0.5.2..",
        says=_says,
        at="moe-runner-backend",
        fix=_FIX,
        source=_SOURCE,
        order=20,
        bad="--quantization fp8 --moe-runner-backend flashinfer_cutlass --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--moe-runner-backend deep_gemm",
    ),
    Row(
        "E3",
        REFUSES,
        when=lambda s: s.moe_runner_backend == "flashinfer_trtllm" and _refused(s),
        versions="0.5.2..",
        says=_says,
        at="moe-runner-backend",
        fix=_FIX,
        source=_SOURCE,
        order=24,
        bad="--quantization w8a8_fp8 --moe-runner-backend flashinfer_trtllm @ 0.5.9 8x-b200 llama-3.1-8b",
        good="--quantization fp8",
    ),
    Row(
        "E4",
        REFUSES,
        when=lambda s: s.moe_runner_backend in ("flashinfer_trtllm_routed", "experimental_sgl_trtllm") and _refused(s),
        versions="0.5.10..",
        says=_says,
        at="moe-runner-backend",
        fix=_FIX,
        source=_SOURCE,
        order=25,
    ),
    Row(
        "E4",
        REFUSES,
        when=_cutedsl_refused,
        versions="0.5.12..",
        says=_says,
        at="moe-runner-backend",
        fix=_FIX,
        source=_SOURCE,
        order=22,
    ),
    Row(
        "E24",
        REFUSES,
        when=lambda s: (
            s.flag("SGLANG_CUTLASS_MOE") and quantization(s) not in (("fp8", "mxfp8") if at_least(s, "0.5.9") else ("fp8",))
        ),
        versions="0.5.5..0.5.15",
        says="SGLANG_CUTLASS_MOE runs FP8 experts only, and quantization is not fp8. Unset it, or set quantization fp8.",
        at="quantization",
        fix=(Set("quantization", "fp8"),),
        source="srt/server_args.py",
        order=32,
    ),
)
