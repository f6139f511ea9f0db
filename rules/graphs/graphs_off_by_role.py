"""A prefill server runs without decode graphs.

## What it does
Says which CUDA graphs the role of a disaggregated server turns off.

## Why
A prefill server never decodes, so up to 0.5.12 SGLang disables CUDA graphs there unless the piecewise prefill graph
is on; later it disables the graphs of the phase that the server does not run, unless their backend was given. Graph
sizes given for such a server do nothing.

## Source
sglang srt/server_args.py `_handle_disaggregation`, 0.4.6.post5 to 0.5.12; `_apply_cuda_graph_disaggregation_roles`,
0.5.18; srt/arg_groups/cuda_graph_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import SETS, WARNS, Row, Set, State, Topic

TOPIC = Topic("GRF002", "graphs-off-by-role", "sglang", "disaggregation")
_SIZES = ("cuda-graph-max-bs", "cuda-graph-bs")


def _piecewise(s: State) -> bool:
    if not at_least(s, "0.5.8"):
        return False
    return bool(s.enable_piecewise_cuda_graph) if not at_least(s, "0.5.10") else not s.disable_piecewise_cuda_graph


def _sized(s: State) -> str | None:
    """A decode graph size that was given to a server that does not decode."""
    if s.disaggregation_mode != "prefill" or s.given("cuda-graph-backend-decode"):
        return None
    return next((name for name in _SIZES if s.given(name)), None)


ROWS = (
    Row(
        "G2",
        SETS,
        when=lambda s: s.disaggregation_mode == "prefill" and not _piecewise(s),
        versions="..0.5.12",
        sets="disable-cuda-graph",
        value=True,
        says="A prefill server does not decode, so its CUDA graphs are turned off.",
        at="disaggregation-mode",
        source="srt/server_args.py _handle_disaggregation",
        bad="--disaggregation-mode prefill @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--disaggregation-mode null",
        order=60,
    ),
    Row(
        "G2-sizes",
        WARNS,
        when=lambda s: _sized(s) is not None,
        says=lambda s: f"{_sized(s)} does nothing on a prefill server: its decode graphs are turned off. Take it out.",
        at="cuda-graph-max-bs",
        fix=(Set("cuda-graph-max-bs", None), Set("cuda-graph-bs", None)),
        source="srt/arg_groups/cuda_graph_hook.py apply_cuda_graph_disaggregation_roles",
        bad="--disaggregation-mode prefill --cuda-graph-max-bs 64 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:cuda-graph-max-bs",
        step="other",
    ),
)
