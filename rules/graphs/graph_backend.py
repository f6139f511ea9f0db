"""A phase's graph backend does not exist or is not ready for production.

## What it does
Checks the backends in cuda-graph-config, and reports `full` for prefill.

## Why
A phase is captured as a whole (full), in pieces (breakable) or not at all (disabled). Other names are refused once
the JSON has been read. Whole prefill graphs pad each batch up to a captured size and are experimental.

## Source
sglang 0.5.15 to 0.5.23 `_handle_cuda_graph_config` (0.5.20: srt/arg_groups/cuda_graph_hook.py),
srt/model_executor/cuda_graph_config.py.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, WARNS, Row, State, Topic

TOPIC = Topic("GRF006", "graph-backend", "sglang", "graph-config")
_SOURCE = "srt/arg_groups/cuda_graph_hook.py validate_cuda_graph_config"
_NAMES = ("full", "breakable", "disabled")


def _unknown(s: State) -> str | None:
    """The phase whose backend is not one of the release's."""
    pieces = ("tc_piecewise",) if not at_least(s, "0.5.23") else ()
    if s.cuda_graph_backend_decode not in (None, *_NAMES):
        return "decode"
    return "prefill" if s.cuda_graph_backend_prefill not in (None, *_NAMES, *pieces) else None


ROWS = (
    Row(
        "G12",
        REFUSES,
        when=lambda s: _unknown(s) is not None,
        versions="0.5.15..",
        says=lambda s: (
            f"The {_unknown(s)} graph backend {s.get(f'cuda-graph-backend-{_unknown(s)}')} does not exist. Use full, "
            f"breakable or disabled."
        ),
        at="cuda-graph-config",
        source=_SOURCE,
        bad="""--cuda-graph-config '{"decode": {"backend": "piecewise"}}' @ 0.5.23 8x-h100-80 llama-3.1-8b""",
        good="""--cuda-graph-config '{"decode": {"backend": "full"}}'""",
        order=60,
    ),
    Row(
        "G11",
        WARNS,
        when=lambda s: s.cuda_graph_backend_prefill == "full",
        versions="0.5.15..",
        says="A full prefill graph is experimental: batches are padded up to a captured size. Use breakable in production.",
        at="cuda-graph-backend-prefill",
        source=_SOURCE,
        bad="--cuda-graph-backend-prefill full @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--cuda-graph-backend-prefill breakable",
        order=61,
    ),
)
