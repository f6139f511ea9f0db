"""The prefill graph's context is out of range.

## What it does
Checks cuda-graph-prefill-max-context against zero and the model's context.

## Why
The value is rounded up to whole pages and must be positive and within the context length, or SGLang refuses it at the
end of resolution.

## Source
sglang 0.5.20 and 0.5.23 srt/arg_groups/cuda_graph_hook.py `finalize_cuda_graph_prefill_max_context`.
"""

from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("GRF007", "prefill-graph-context", "sglang", "graph-final")
_SOURCE = "srt/arg_groups/cuda_graph_hook.py finalize_cuda_graph_prefill_max_context"


def _aligned(s: State) -> int:
    page = int(s.page_size)
    return -(-int(s.cuda_graph_prefill_max_context) // page) * page


ROWS = (
    Row(
        "G16",
        REFUSES,
        when=lambda s: s.cuda_graph_prefill_max_context is not None and s.cuda_graph_prefill_max_context <= 0,
        versions="0.5.20..",
        says="cuda-graph-prefill-max-context is {cuda_graph_prefill_max_context}. Use a positive number of tokens.",
        at="cuda-graph-prefill-max-context",
        fix=(Set("cuda-graph-prefill-max-context", None),),
        source=_SOURCE,
        bad="--cuda-graph-prefill-max-context 0 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--cuda-graph-prefill-max-context 8192",
    ),
    Row(
        "G16-long",
        REFUSES,
        when=lambda s: (
            s.cuda_graph_prefill_max_context is not None
            and s.cuda_graph_prefill_max_context > 0
            and _aligned(s) > (s.context_length or s.model.context_length)
        ),
        versions="0.5.20..",
        says=lambda s: (
            f"cuda-graph-prefill-max-context is {_aligned(s):,} tokens in whole pages, above the context length of "
            f"{s.context_length or s.model.context_length:,}. Lower it."
        ),
        at="cuda-graph-prefill-max-context",
        fix=(Set("cuda-graph-prefill-max-context", None),),
        source=_SOURCE,
        bad="--cuda-graph-prefill-max-context 200000 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--cuda-graph-prefill-max-context 8192",
    ),
)
