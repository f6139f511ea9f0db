"""The quantization asked for is not the checkpoint's.

## What it does
Compares `quantization` with the method that the checkpoint's config.json declares.

## Why
`quantization` does not convert a quantised checkpoint: it names the kernels that read it. SGLang compares the two names and
stops where they differ, but for a few pairs: compressed-tensors takes
w8a8_int8 and w8a8_fp8, AWQ and GPTQ take their Marlin kernels, and an FP8 checkpoint takes nvfp4_online since 0.5.15 and
modelopt_fp4 since 0.5.18. An unquantised checkpoint takes what can be quantised while loading, such as fp8.

## Fix
Safe: without the flag SGLang reads the method from the checkpoint.

## Source
sglang 0.4.6.post5 to 0.5.23 srt/configs/model_config.py `_verify_quantization`.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import at_least, config_quantization, quantization
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("QNT001", "quantization-mismatch", "sglang", "model-config")

_PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    # checkpoint's method: what it takes besides, from which release
    "compressed-tensors": (("w8a8_int8", "0.4.0"), ("w8a8_fp8", "0.4.0"), ("auto-round-int8", "0.5.15")),
    "fp8": (("nvfp4_online", "0.5.15"), ("modelopt_fp4", "0.5.18")),
    "awq": (("awq_marlin", "0.4.0"), ("marlin", "0.4.0"), ("moe_wna16", "0.4.0")),
    "gptq": (("gptq_marlin", "0.4.0"), ("marlin", "0.4.0"), ("moe_wna16", "0.4.0")),
    "mxfp4": (),
    "bitsandbytes": (),
}
_ASKED = frozenset(
    {
        "awq",
        "awq_marlin",
        "bitsandbytes",
        "compressed-tensors",
        "fp8",
        "gptq",
        "gptq_marlin",
        "marlin",
        "modelopt",
        "modelopt_fp4",
        "modelopt_fp8",
        "modelopt_mixed",
        "moe_wna16",
        "mxfp4",
        "mxfp8",
        "nvfp4_online",
        "qoq",
        "w4afp8",
        "w8a8_fp8",
        "w8a8_int8",
    }
)


def _differs(s: State) -> bool:
    asked = quantization(s)
    if asked not in _ASKED:
        return False
    declared = config_quantization(s)
    if declared is None or declared not in _PAIRS or asked == declared:
        return False
    return all(asked != name or not at_least(s, since) for name, since in _PAIRS[declared])


ROWS = (
    Row(
        "Q1",
        REFUSES,
        when=_differs,
        says=lambda s: (
            f"quantization {s.quantization} does not read this checkpoint, which is {config_quantization(s)}. "
            "Leave it out: SGLang takes the method from the checkpoint."
        ),
        at="quantization",
        fix=(Set("quantization", None, SAFE),),
        source="srt/configs/model_config.py",
        bad="--quantization awq --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--quantization fp8",
    ),
)
