"""The flag is for another platform.

## What it does
Finds flags that only Ascend NPUs serve, on NVIDIA GPUs.

## Why
MindSpore's model implementation and quantised communications exist for Ascend only; SGLang refuses them elsewhere.

## Fix
Safe: there is no other meaning.

## Source
sglang 0.5.9 srt/server_args.py check_server_args; 0.5.23 srt/arg_groups/validation_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import cuda_major
from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("FLG043", "flag-for-another-platform", "sglang", "checks")

_SOURCE = "srt/arg_groups/validation_hook.py"

ROWS = (
    Row(
        "N12",
        REFUSES,
        when=lambda s: s.model_impl == "mindspore" and cuda_major(s) > 0,
        versions="0.5.8..",
        says="model-impl mindspore needs an Ascend NPU. Leave it out.",
        at="model-impl",
        fix=(Set("model-impl", None, SAFE),),
        source=_SOURCE,
        order=72,
        bad="--model-impl mindspore @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--model-impl sglang",
    ),
    Row(
        "N15",
        REFUSES,
        when=lambda s: s.enable_quant_communications and (s.tp_size == 1 or cuda_major(s) > 0),
        versions="0.5.12..",
        says="enable-quant-communications needs Ascend NPUs and tp-size above 1. Leave it out.",
        at="enable-quant-communications",
        fix=(Set("enable-quant-communications", None, SAFE),),
        source=_SOURCE,
        order=84,
        bad="--enable-quant-communications @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-quant-communications",
    ),
)
