"""Decode context parallelism is set up inconsistently.

## What it does
Checks dcp-size, dcp-comm-backend and dcp-replicate-q-proj against each other and against tp-size.

## Why
dcp-size ranks hold one sequence's KV cache together, so options for their exchange mean nothing with one rank and are
refused. A size that does not divide tp-size passes argument code and fails when the groups are created.

## Source
sglang 0.5.15 to 0.5.23: `_handle_dcp_validation`, srt/arg_groups/parallel_hook.py
`handle_decode_context_parallelism`; group creation: srt/distributed/parallel_state.py.
"""

from preflight.engines.sglang.facts import cuda_major, largest_divisor, on_cuda, splits
from preflight.engines.steps import DIES, REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR013", "decode-context-parallel", "sglang", "decode-context-parallel")
_SOURCE = "srt/arg_groups/parallel_hook.py handle_decode_context_parallelism"


def _exchange(s: State) -> str:
    """0.5.23: what an unset dcp-comm-backend becomes; FlashInfer's exchange needs an NVLink fabric, known by name only."""
    if s.dcp_size <= 1:
        return "ag_rs"
    fabric = cuda_major(s) == 10 and "GB" in str(s.gpu.known("gpu") or "").upper()
    return "fi_a2a" if fabric else "a2a"


ROWS = (
    Row(
        "P28",
        REFUSES,
        when=lambda s: s.dcp_size < 1,
        versions="0.5.15..",
        says="dcp-size is {dcp_size}. Use 1 or more.",
        at="dcp-size",
        fix=(Set("dcp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --dcp-size 0 @ 0.5.23 8x-h200 deepseek-v3",
        good="--dcp-size 2",
    ),
    Row(
        "P30-default",
        SETS,
        when=lambda s: s.dcp_comm_backend is None,
        versions="0.5.23..",
        sets="dcp-comm-backend",
        value=_exchange,
        source=_SOURCE,
        order=10,
    ),
    Row(
        "P30",
        REFUSES,
        when=lambda s: s.given("dcp-comm-backend") and s.dcp_comm_backend in ("a2a", "fi_a2a") and s.dcp_size <= 1,
        versions="0.5.15..",
        says="dcp-comm-backend {dcp_comm_backend} needs a dcp-size above 1; here it is {dcp_size}. Take it out, or raise "
        "dcp-size.",
        at="dcp-comm-backend",
        fix=(Set("dcp-comm-backend", None),),
        source=_SOURCE,
        bad="--tp-size 8 --dcp-comm-backend a2a @ 0.5.23 8x-h200 deepseek-v3",
        good="--dcp-size 2",
    ),
    Row(
        "P30-device",
        REFUSES,
        when=lambda s: s.given("dcp-comm-backend") and s.dcp_comm_backend == "fi_a2a" and not on_cuda(s),
        versions="0.5.15..",
        says="dcp-comm-backend fi_a2a runs on CUDA only. Use a2a or ag_rs.",
        at="dcp-comm-backend",
        fix=(Set("dcp-comm-backend", "a2a"),),
        source=_SOURCE,
    ),
    Row(
        "P31",
        REFUSES,
        when=lambda s: s.dcp_replicate_q_proj and (s.dcp_size <= 1 or s.dcp_comm_backend not in ("a2a", "fi_a2a")),
        versions="0.5.15..",
        says="dcp-replicate-q-proj needs a dcp-size above 1 and dcp-comm-backend a2a or fi_a2a; here dcp-size is {dcp_size} "
        "and the "
        "backend {dcp_comm_backend}.",
        at="dcp-replicate-q-proj",
        fix=(Set("dcp-replicate-q-proj", None),),
        source=_SOURCE,
        bad="--tp-size 8 --dcp-replicate-q-proj @ 0.5.23 8x-h200 deepseek-v3",
        good="--dcp-size 2 --dcp-comm-backend a2a",
    ),
    Row(
        "P29",
        DIES,
        when=lambda s: s.dcp_size > 1 and not splits(s.tp_size, s.dcp_size),
        versions="0.5.15..",
        says="dcp-size {dcp_size} does not divide tp-size {tp_size}. Use a divisor of {tp_size}.",
        at="dcp-size",
        fix=(Set("dcp-size", lambda s: largest_divisor(s.tp_size, s.dcp_size)),),
        stage="init",
        source="srt/distributed/parallel_state.py",
        bad="--tp-size 8 --dcp-size 3 @ 0.5.23 8x-h200 deepseek-v3",
        good="--dcp-size 2",
        step="init",
    ),
)
