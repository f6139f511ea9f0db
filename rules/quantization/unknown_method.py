"""The quantization method has no kernels here.

## What it does
Finds methods that the parser accepts and SGLang then does not know, asked for or declared by the checkpoint.

## Why
The list of the parser is longer than the list of methods. `marlin` is a kernel for AWQ and GPTQ checkpoints, not a method
of its own. Since 0.5.20 GPTQ is read by the Marlin kernels only, which need compute capability 8.0: on older GPUs, and
where `gptq` is spelled out, it is unknown.

## Fix
Safe to leave out where the checkpoint says it; there is none for a GPU that is too old.

## Source
sglang 0.5.9 and 0.5.23 srt/layers/quantization/__init__.py, srt/configs/model_config.py.
"""

from preflight.engines.sglang.facts import at_least, config_quantization, quantization, sm_major
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("QNT002", "unknown-quantization", "sglang", "model-config")


def _unknown(s: State) -> bool:
    asked = quantization(s)
    if asked == "marlin":
        return config_quantization(s) is None
    if asked == "qoq":
        return False
    return asked == "gptq" and at_least(s, "0.5.20") and config_quantization(s) in (None, "gptq")


ROWS = (
    Row(
        "Q3",
        REFUSES,
        when=_unknown,
        versions="0.5.2..",
        says="quantization {quantization} is accepted by the parser but is no method of this release. Leave it out.",
        at="quantization",
        fix=(Set("quantization", None),),
        source="srt/layers/quantization/__init__.py",
        bad="--quantization marlin @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--quantization fp8",
    ),
    Row(
        "Q3",
        REFUSES,
        when=lambda s: s.quantization is None and config_quantization(s) == "gptq" and sm_major(s) < 8,
        versions="0.5.20..",
        says="GPTQ checkpoints need compute capability 8.0 since SGLang 0.5.20. Use an AWQ or unquantised checkpoint.",
        source="srt/layers/quantization/__init__.py",
    ),
    Row(
        "Q3",
        REFUSES,
        when=lambda s: s.quantization is None and config_quantization(s) == "mxfp4",
        versions="..0.4.10",
        says="This release is not known to read MXFP4 checkpoints. Use SGLang 0.5.2 or newer.",
        source="srt/layers/quantization/__init__.py",
    ),
)
