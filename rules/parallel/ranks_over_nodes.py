"""Ranks do not spread evenly over the nodes.

## What it does
Checks that tp-size × pp-size is a multiple of nnodes.

## Why
Every node starts the same number of ranks. SGLang stops with a bare AssertionError when the product does not divide.

## Source
sglang srt/server_args.py `check_server_args`, 0.4.6.post5 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.sglang.facts import ranks, splits
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("PAR001", "ranks-do-not-fill-nodes", "sglang", "checks")


def _whole_nodes(s: State) -> int | None:
    """The largest tp-size not above the given one that fills the nodes."""
    return next((size for size in range(s.tp_size, 0, -1) if splits(size * s.pp_size, s.nnodes)), None)


ROWS = (
    Row(
        "P1",
        REFUSES,
        when=lambda s: s.nnodes > 1 and not splits(ranks(s), s.nnodes) and s.get("elastic-ep-join-mode") != "scale",
        says="tp-size {tp_size} × pp-size {pp_size} does not divide over {nnodes} nodes. Choose sizes whose product is a "
        "multiple "
        "of nnodes.",
        at="tp-size",
        fix=(Set("tp-size", _whole_nodes),),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 3 --nnodes 2 --dist-init-addr 10.0.0.1:5000 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--tp-size 4",
    ),
)
