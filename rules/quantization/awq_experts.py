"""Experts stored as AWQ need the Marlin kernels.

## Why
SGLang's plain AWQ reads linear layers and has no experts. It normally turns to `awq_marlin` by itself, which has them; it does
not where `quantization` says `awq`, and before 0.4.10 not without vLLM installed beside it, whose kernels these were. The first
expert layer then stops the server (up to 0.5.2), or is built for weights that the checkpoint does not have.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.2"
hardware = { profile = "8x-h200" }
model = { profile = "qwen3-30b-a3b-awq" }

[flags]
quantization = "awq"
```
```toml good
engine = "sglang"
engine-version = "0.5.2"
hardware = { profile = "8x-h200" }
model = { profile = "qwen3-30b-a3b-awq" }

[flags]
quantization = "awq_marlin"
```

## Fix
Unsafe: another kernel, for the same weights.

## Source
sglang 0.4.6.post5 to 0.5.18 srt/layers/quantization/awq.py, srt/layers/moe/fused_moe_triton/layer.py.
"""

from preflight.engines.sglang.facts import config_quantization, on_cuda, quantization
from preflight.engines.steps import DIES, WARNS, Row, Set, State, Topic

TOPIC = Topic("QNT006", "awq-experts-need-marlin", "sglang", "load")

_SOURCE = "srt/layers/quantization/awq.py"
_FIX = (Set("quantization", "awq_marlin"),)


def _plain_experts(s: State) -> bool:
    """Whether experts stored as AWQ are asked to be read as plain AWQ."""
    return s.given("quantization") and quantization(s) == "awq" and _awq_experts(s)


def _awq_experts(s: State) -> bool:
    return on_cuda(s) and config_quantization(s) == "awq" and s.model.known("experts") is not None


ROWS = (
    Row(
        "awq-experts",
        DIES,
        when=_plain_experts,
        versions="0.4.6..0.5.2",
        says="quantization awq has no kernel for experts, and {model__name} has experts. Use awq_marlin.",
        at="quantization",
        fix=_FIX,
        stage="load",
        source=_SOURCE,
        bad="--quantization awq @ 0.5.2 8x-h200 qwen3-30b-a3b-awq",
        good="--quantization awq_marlin",
    ),
    Row(
        "awq-experts",
        WARNS,
        when=_plain_experts,
        versions="0.5.5..0.5.18",
        says="quantization awq has no kernel for experts, so those of {model__name} are built unquantised, for weights that the "
        "checkpoint does not have. Use awq_marlin.",
        at="quantization",
        fix=_FIX,
        source=_SOURCE,
        bad="--quantization awq @ 0.5.9 8x-h200 qwen3-30b-a3b-awq",
        good="--quantization awq_marlin",
    ),
    Row(
        "awq-experts",
        WARNS,
        when=lambda s: not s.given("quantization") and _awq_experts(s),
        versions="0.4.6..0.4.6",
        says="{model__name} has experts stored as AWQ, which this release reads only through vLLM's Marlin kernels; without "
        "vLLM beside it the first of them stops the server. Install vLLM and use quantization awq_marlin, or 0.4.10.",
        at="quantization",
        fix=_FIX,
        source=_SOURCE,
        bad="--tp-size 1 @ 0.4.6.post5 8x-h200 qwen3-30b-a3b-awq",
        good="--quantization awq_marlin",
    ),
)
