"""Dumping tensors turns CUDA graphs off.

## What it does
Reports debug-tensor-dump-output-folder and msprobe-dump-config.

## Why
Tensors inside a captured graph cannot be written out, so SGLang runs without graphs and without its warm-up: a server
for debugging, several times slower in decode.

## Source
sglang srt/server_args.py `_handle_other_validations`, 0.5.5.post3 to 0.5.18; srt/arg_groups/serving_hook.py, 0.5.20
and 0.5.23.
"""

from preflight.diagnostics import WARNING
from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("GRF008", "debug-dump-without-graphs", "sglang", "other")

ROWS = (
    Row(
        "G17",
        SETS,
        when=lambda s: (
            s.debug_tensor_dump_output_folder is not None or (at_least(s, "0.5.12") and s.msprobe_dump_config is not None)
        ),
        versions="0.5.5..",
        sets=("disable-cuda-graph", "cuda-graph-backend-decode", "cuda-graph-backend-prefill", "skip-server-warmup"),
        value=lambda s: (
            (s.disable_cuda_graph, "disabled", "disabled", True) if at_least(s, "0.5.15") else (True, None, None, True)
        ),
        says="Dumping tensors turns CUDA graphs and the warm-up off. Take it out of a production launch.",
        at="debug-tensor-dump-output-folder",
        fix=(Set("debug-tensor-dump-output-folder", None),),
        source="srt/server_args.py _handle_other_validations",
        bad="--debug-tensor-dump-output-folder /tmp/dump @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:debug-tensor-dump-output-folder",
        severity=WARNING,
    ),
)
