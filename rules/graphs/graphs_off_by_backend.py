"""The attention backend turns CUDA graphs off.

## What it does
Reports torch_native and flex_attention, which run without CUDA graphs.

## Why
Both are reference implementations whose kernels cannot be captured, so SGLang disables the graphs of decode, from
0.5.15 on of both phases. Decode at small batches is then bound by the CPU. The memory for graphs was set aside before
(the automatic fraction does not know of it).

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.4.6.post5 to 0.5.18;
srt/arg_groups/attention_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.diagnostics import WARNING
from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import SETS, Row, Set, State, Topic

TOPIC = Topic("GRF001", "backend-without-cuda-graphs", "sglang", "attention")
_SOURCE = "srt/server_args.py _handle_attention_backend_compatibility"


def _eager(s: State) -> bool:
    return s.attention_backend == "torch_native" or (s.attention_backend == "flex_attention" and at_least(s, "0.5.5"))


ROWS = (
    Row(
        "G1",
        SETS,
        when=_eager,
        versions="..0.5.12",
        sets="disable-cuda-graph",
        value=True,
        says="attention-backend {attention_backend} turns CUDA graphs off. Use triton where flashinfer and fa3 do not run.",
        at="attention-backend",
        fix=(Set("attention-backend", "triton"),),
        source=_SOURCE,
        bad="--attention-backend torch_native @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--attention-backend triton",
        order=20,
        severity=WARNING,
    ),
    Row(
        "G1-phases",
        SETS,
        when=_eager,
        versions="0.5.15..",
        sets=("cuda-graph-backend-decode", "cuda-graph-backend-prefill"),
        value=("disabled", "disabled"),
        says="attention-backend {attention_backend} turns CUDA graphs off. Use triton where flashinfer and fa3 do not run.",
        at="attention-backend",
        fix=(Set("attention-backend", "triton"),),
        source=_SOURCE,
        bad="--attention-backend torch_native @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--attention-backend triton",
        order=20,
        severity=WARNING,
    ),
)
