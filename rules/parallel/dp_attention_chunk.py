"""DP attention divides the prefill chunk.

## What it does
Says which chunk each data-parallel rank gets.

## Why
With DP attention SGLang divides chunked-prefill-size by the number of attention groups, and multiplies
schedule-conservativeness by 0.3. The memory fraction was chosen before, from the undivided chunk. A chunk given for
one GPU becomes small: 8,192 over eight groups is 1,024 tokens a rank.

## Source
sglang srt/server_args.py `_handle_data_parallelism`, 0.4.6.post5 to 0.5.18; srt/arg_groups/parallel_hook.py, 0.5.20
and 0.5.23.
"""

from preflight.engines.sglang.facts import dp_groups, prefill_graph_list
from preflight.engines.steps import SETS, Row, State, Topic

TOPIC = Topic("PAR010", "dp-attention-divides-chunk", "sglang", "data-parallel")


def _clamps(s: State) -> bool:
    """Whether the prefill graph was sized by the undivided chunk."""
    if dp_groups(s) <= 1 or s.cuda_graph_backend_prefill == "disabled" or s.given("cuda-graph-max-bs-prefill"):
        return False
    return bool(s.cuda_graph_max_bs_prefill > s.chunked_prefill_size)


ROWS = (
    Row(
        "P3",
        SETS,
        when=lambda s: dp_groups(s) > 1,
        sets="chunked-prefill-size",
        value=lambda s: s.chunked_prefill_size // dp_groups(s),
        says=lambda s: (
            f"{dp_groups(s)} attention groups share the prefill chunk: each rank gets {s.chunked_prefill_size:,} tokens at a "
            f"time. "
            "Give the chunk of all groups together."
        ),
        source="srt/server_args.py _handle_data_parallelism",
        bad="--tp-size 8 --dp-size 8 --enable-dp-attention --chunked-prefill-size 8192 @ 0.5.9 8x-h200 deepseek-v3",
        good="--no:enable-dp-attention --dp-size 1",
        order=45,
    ),
    Row(
        "P3-conservativeness",
        SETS,
        when=lambda s: dp_groups(s) > 1,
        sets="schedule-conservativeness",
        value=lambda s: s.schedule_conservativeness * 0.3,
        source="srt/server_args.py _handle_data_parallelism",
        order=46,
    ),
    Row(
        "P3-graph",
        SETS,
        when=_clamps,
        versions="0.5.18..",
        sets=("cuda-graph-max-bs-prefill", "cuda-graph-bs-prefill"),
        value=lambda s: (
            s.chunked_prefill_size,
            s.cuda_graph_bs_prefill if s.given("cuda-graph-bs-prefill") else prefill_graph_list(s, s.chunked_prefill_size),
        ),
        source="srt/server_args.py _handle_data_parallelism",
        order=47,
    ),
)
