"""Unpadded graphs with torch.compile take forever to start.

## What it does
Reports disable-cuda-graph-padding with enable-torch-compile.

## Why
Without padding every batch size from 1 up is captured, and each would be compiled and tuned: the server stalls for
many minutes. SGLang refuses the pair from 0.5.12 on.

## Source
sglang srt/server_args.py `check_server_args`, 0.5.12.post1 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.steps import REFUSES, WARNS, Row, Set, Topic

TOPIC = Topic("GRF004", "unpadded-graphs-with-compile", "sglang", "checks")

ROWS = (
    Row(
        "G7",
        REFUSES,
        when=lambda s: s.disable_cuda_graph_padding and s.enable_torch_compile,
        versions="0.5.12..",
        says="disable-cuda-graph-padding with enable-torch-compile would compile every batch size, and is refused. Take one "
        "of them out.",
        at="disable-cuda-graph-padding",
        fix=(Set("disable-cuda-graph-padding", None),),
        source="srt/server_args.py check_server_args",
        bad="--disable-cuda-graph-padding --enable-torch-compile @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:disable-cuda-graph-padding",
    ),
    Row(
        "G7-slow",
        WARNS,
        when=lambda s: s.disable_cuda_graph_padding and s.enable_torch_compile,
        versions="..0.5.10",
        says="disable-cuda-graph-padding with enable-torch-compile compiles every batch size: start-up takes many minutes "
        "(later releases "
        "refuse it). Take one of them out.",
        at="disable-cuda-graph-padding",
        fix=(Set("disable-cuda-graph-padding", None),),
        source="srt/server_args.py",
        bad="--disable-cuda-graph-padding --enable-torch-compile @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:disable-cuda-graph-padding",
    ),
)
