"""The format needs a Blackwell GPU.

## What it does
Finds `quantization nvfp4_online` and `enable-deepseek-v4-fp4-indexer` on GPUs without the kernels, and runners that
nvfp4_online does not take.

## Why
Quantising to NVFP4 while loading needs SM100 or SM103 and the TensorRT-LLM or CuTe DSL runner. The FP4 indexer of
DeepSeek-V4 needs SM100, SM120 or gfx95.

## Fix
Unsafe: another format, or another GPU.

## Source
sglang 0.5.15.post1 to 0.5.23 srt/arg_groups/overrides.py; 0.5.23 srt/arg_groups/serving_hook.py.
"""

from preflight.engines.sglang.facts import at_least, cuda_major, on_amd, quantization
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("QNT004", "format-needs-blackwell", "sglang", "moe")


def _online_runner_refused(s: State) -> bool:
    if quantization(s) != "nvfp4_online" or s.moe_runner_backend == "auto":
        return False
    taken = ("flashinfer_trtllm", "flashinfer_trtllm_routed", *(("flashinfer_cutedsl",) if at_least(s, "0.5.18") else ()))
    own = s.moe_runner_backend == "flashinfer_megamoe" and s.flag("SGLANG_FLASHINFER_CUTEDSL_NVFP4_W4A16")
    return s.moe_runner_backend not in taken and not own


ROWS = (
    Row(
        "Q7",
        REFUSES,
        when=lambda s: quantization(s) == "nvfp4_online" and cuda_major(s) != 10,
        versions="0.5.15..",
        says="quantization nvfp4_online needs an SM100 or SM103 GPU, not {gpu__gpu}. Use fp8.",
        at="quantization",
        fix=(Set("quantization", "fp8"),),
        source="srt/arg_groups/overrides.py",
        order=7,
        bad="--quantization nvfp4_online @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--quantization fp8",
    ),
    Row(
        "Q7",
        REFUSES,
        when=_online_runner_refused,
        versions="0.5.15..",
        says="quantization nvfp4_online does not run on moe-runner-backend {moe_runner_backend}. Use flashinfer_trtllm.",
        at="moe-runner-backend",
        fix=(Set("moe-runner-backend", None), Set("moe-runner-backend", "flashinfer_trtllm")),
        source="srt/arg_groups/overrides.py",
        order=8,
    ),
    Row(
        "Q10",
        REFUSES,
        when=lambda s: s.enable_deepseek_v4_fp4_indexer and not on_amd(s) and cuda_major(s) not in (10, 12),
        versions="0.5.15..",
        says="enable-deepseek-v4-fp4-indexer needs an SM100 or SM120 GPU, not {gpu__gpu}. Leave it out.",
        at="enable-deepseek-v4-fp4-indexer",
        fix=(Set("enable-deepseek-v4-fp4-indexer", None),),
        source="srt/arg_groups/serving_hook.py",
        step="environment",
        bad="--enable-deepseek-v4-fp4-indexer @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-deepseek-v4-fp4-indexer",
    ),
)
