"""The draft cannot use this MoE runner.

## What it does
Finds `speculative-moe-runner-backend` values that the draft does not support.

## Why
Up to 0.5.10 the TensorRT-LLM runner knew only some routings, and a draft's routing is not known before it is loaded, so
SGLang refuses it for the draft. The LoRA runners serve adapters of the target and are refused for the draft since 0.5.23.

## Fix
Safe: without the flag SGLang takes a runner that the draft supports.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import speculation
from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("SPC010", "draft-moe-runner", "sglang", "speculative")

_FIX = (Set("speculative-moe-runner-backend", None, SAFE),)

ROWS = (
    Row(
        "S12",
        REFUSES,
        when=lambda s: s.given("speculative-moe-runner-backend") and s.speculative_moe_runner_backend == "flashinfer_trtllm",
        versions="0.5.8..0.5.10",
        says="speculative-moe-runner-backend flashinfer_trtllm is refused for drafts. Use triton, or leave it out.",
        at="speculative-moe-runner-backend",
        fix=_FIX,
        source="srt/server_args.py",
        order=5,
        bad="--speculative-algorithm EAGLE --speculative-moe-runner-backend flashinfer_trtllm "
        "--tp-size 8 @ 0.5.9 8x-b200 deepseek-v3",
        good="--no:speculative-moe-runner-backend",
    ),
    Row(
        "E22",
        REFUSES,
        when=lambda s: speculation(s) and str(s.speculative_moe_runner_backend).startswith("lora"),
        versions="0.5.23..",
        says="speculative-moe-runner-backend {speculative_moe_runner_backend} serves adapters, and a "
        "draft has none. Leave it out.",
        at="speculative-moe-runner-backend",
        fix=_FIX,
        source="srt/arg_groups/lora_hook.py",
        step="checks",
        order=42,
    ),
)
