"""Two flags give the size of the decode graphs.

## What it does
Reports a cuda-graph-max-bs that a list of sizes replaces.

## Why
With an explicit list of batch sizes SGLang captures exactly these, and the largest of them becomes the maximum,
whatever the other flag says.

## Source
sglang srt/server_args.py `_handle_gpu_memory_settings`, 0.5.5.post3 to 0.5.18; srt/arg_groups/memory_hook.py, 0.5.20
and 0.5.23.
"""

from preflight.engines.steps import WARNS, Row, Set, State, Topic

TOPIC = Topic("GRF005", "graph-sizes-given-twice", "sglang", "graph-config")


def _overruled(s: State) -> bool:
    if not s.cuda_graph_bs or not s.given("cuda-graph-max-bs") or not s.given("cuda-graph-bs"):
        return False
    sizes = [size for size in s.cuda_graph_bs if isinstance(size, int)]
    return len(sizes) == len(s.cuda_graph_bs) and s.cuda_graph_max_bs != max(sizes)


ROWS = (
    Row(
        "G5",
        WARNS,
        when=_overruled,
        versions="0.5.5..",
        says=lambda s: (
            f"The list of graph sizes goes up to {max(s.cuda_graph_bs)}, so cuda-graph-max-bs {s.cuda_graph_max_bs} has no "
            f"effect. "
            "Take one of the two out."
        ),
        at="cuda-graph-max-bs",
        fix=(Set("cuda-graph-max-bs", None),),
        source="srt/server_args.py _handle_gpu_memory_settings",
        bad="--cuda-graph-bs 1 2 4 8 --cuda-graph-max-bs 64 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:cuda-graph-max-bs",
        order=5,
    ),
)
