"""SGLang does not quantise and serve in one go.

## What it does
Finds `quantize-and-serve`.

## Why
The flag asks SGLang to quantise with ModelOpt before serving. With another method, or none, it is refused; with a ModelOpt
method it is refused as well, for the function is disabled in every release so far. Quantise and export first, then serve
the exported checkpoint.

## Fix
Unsafe: without the flag the checkpoint is served as it is.

## Source
sglang 0.5.5.post3 to 0.5.23 srt/configs/model_config.py.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("QNT003", "quantize-and-serve-disabled", "sglang", "model-config")

ROWS = (
    Row(
        "Q8",
        REFUSES,
        when=lambda s: s.quantize_and_serve,
        versions="0.5.5..",
        says="quantize-and-serve is disabled in this release. Export a quantised checkpoint first and serve that.",
        at="quantize-and-serve",
        fix=(Set("quantize-and-serve", None),),
        source="srt/configs/model_config.py",
        bad="--quantize-and-serve --quantization modelopt_fp8 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:quantize-and-serve --no:quantization",
    ),
)
