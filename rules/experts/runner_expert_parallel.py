"""The MoE runner does not split experts this way.

## What it does
Compares `moe-runner-backend` with `ep-size`.

## Why
FlashInfer's CUTLASS and CuTe DSL runners split experts over all tensor-parallel ranks or over none. The FP8 CUTLASS runner
and gpt-oss's Triton kernels do not split them at all.

## Fix
Unsafe: `ep-size` decides where the experts' memory goes.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/moe_hook.py, model_hook.py.
"""

from preflight.engines.sglang.facts import at_least, cuda_major, quantization
from preflight.engines.steps import REFUSES, SETS, Row, Set, Topic

TOPIC = Topic("MOE003", "moe-runner-ep-size", "sglang", "moe")

ROWS = (
    Row(
        "E2",
        REFUSES,
        when=lambda s: s.moe_runner_backend == "flashinfer_cutlass" and s.ep_size not in (1, s.tp_size),
        versions="0.5.2..",
        says="moe-runner-backend flashinfer_cutlass needs ep-size 1 or tp-size ({tp_size}), not {ep_size}.",
        at="ep-size",
        fix=(Set("ep-size", lambda s: s.tp_size), Set("ep-size", 1)),
        source="srt/arg_groups/moe_hook.py",
        order=21,
        bad="--moe-runner-backend flashinfer_cutlass --ep-size 2 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--ep-size 8",
    ),
    Row(
        "E4",
        REFUSES,
        when=lambda s: s.moe_runner_backend == "flashinfer_cutedsl" and s.ep_size not in (1, s.tp_size),
        versions="0.5.12..",
        says="moe-runner-backend flashinfer_cutedsl needs ep-size 1 or tp-size ({tp_size}), not {ep_size}.",
        at="ep-size",
        fix=(Set("ep-size", lambda s: s.tp_size), Set("ep-size", 1)),
        source="srt/arg_groups/moe_hook.py",
        order=23,
    ),
    Row(
        "E6",
        REFUSES,
        when=lambda s: (
            s.moe_runner_backend == "triton_kernel"
            and s.ep_size > 1
            and s.model.architecture == "GptOssForCausalLM"
            and (at_least(s, "0.5.5") or cuda_major(s) != 10)  # SM100 replaces the runner first
        ),
        versions="0.5.2..",
        says="moe-runner-backend triton_kernel does not split experts, but ep-size is {ep_size}. Use "
        "ep-size 1 or another runner.",
        at="ep-size",
        fix=(Set("ep-size", None), Set("moe-runner-backend", None)),
        source="srt/arg_groups/model_hook.py",
        step="model",
        order=48,
    ),
    Row(
        "E24",
        SETS,
        when=lambda s: s.flag("SGLANG_CUTLASS_MOE"),
        versions="0.5.5..0.5.15",
        sets="moe-runner-backend",
        value="cutlass",
        says="SGLANG_CUTLASS_MOE sets moe-runner-backend to cutlass, whatever was given. Use the flag alone.",
        source="srt/server_args.py",
        order=33,
    ),
    Row(
        "E5",
        REFUSES,
        when=lambda s: s.moe_runner_backend == "cutlass" and quantization(s) in ("fp8", "mxfp8") and s.ep_size != 1,
        versions="0.5.5..",
        says="moe-runner-backend cutlass does not split {quantization} experts, but ep-size is {ep_size}. Use ep-size 1.",
        at="ep-size",
        fix=(Set("ep-size", None), Set("moe-runner-backend", None)),
        source="srt/arg_groups/moe_hook.py",
        order=34,
        bad="--quantization fp8 --moe-runner-backend cutlass --ep-size 8 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--ep-size 1",
    ),
)
