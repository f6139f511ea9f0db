"""Distributed weight data parallelism does not go together with an option of the launch.

## What it does
Checks dwdp-size against tp-size, the server's role, and options that it does not support.

## Why
With dwdp-size every rank keeps a share of the expert weights and fetches the others' in time for its own batch. All
ranks of the server take part, and what moves experts or batches about is refused.

## Source
sglang 0.5.18 `_handle_dwdp`; 0.5.20 and 0.5.23 srt/arg_groups/parallel_hook.py `handle_dwdp`.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR014", "dwdp-unsupported", "sglang", "dwdp")
_SOURCE = "srt/arg_groups/parallel_hook.py handle_dwdp"


def _hinders(s: State) -> str | None:
    """The first option that dwdp does not support."""
    for name, refused in (
        ("disaggregation-mode", s.disaggregation_mode == "decode"),
        ("enable-eplb", s.enable_eplb),
        ("speculative-algorithm", s.speculative_algorithm is not None),
        ("pp-size", s.pp_size != 1),
        ("enable-two-batch-overlap", s.enable_two_batch_overlap),
    ):
        if refused:
            return name
    return None


ROWS = (
    Row(
        "P33",
        REFUSES,
        when=lambda s: (s.dwdp_size or 1) > 1 and s.dwdp_size != s.tp_size,
        versions="0.5.18..",
        says="dwdp-size {dwdp_size} must equal tp-size {tp_size}. Set it to {tp_size}.",
        at="dwdp-size",
        fix=(Set("dwdp-size", lambda s: s.tp_size),),
        source=_SOURCE,
        bad="--tp-size 8 --dwdp-size 4 @ 0.5.23 8x-h200 deepseek-v3",
        good="--dwdp-size 8",
        order=10,
    ),
    Row(
        "P33-with",
        REFUSES,
        when=lambda s: (s.dwdp_size or 1) > 1 and _hinders(s) is not None,
        versions="0.5.18..",
        says=lambda s: f"dwdp-size {s.dwdp_size} does not work with {_hinders(s)}. Take one of them out.",
        at="dwdp-size",
        fix=(Set("dwdp-size", None),),
        source=_SOURCE,
        bad="--tp-size 8 --dwdp-size 8 --enable-eplb --ep-size 8 @ 0.5.23 8x-h200 deepseek-v3",
        good="--no:enable-eplb",
        order=11,
    ),
    Row(
        "P33-sets",
        SETS,
        when=lambda s: (s.dwdp_size or 1) > 1,
        versions="0.5.18..",
        sets=("enable-dp-lm-head", "moe-dense-tp-size", "ep-size", "moe-dp-size", "moe-a2a-backend", "disable-cuda-graph"),
        value=lambda s: (True, 1, s.dwdp_size, 1, "none", True),
        source=_SOURCE,
        order=20,
    ),
    Row(
        "P33-groups",
        SETS,
        when=lambda s: (s.dwdp_size or 1) > 1,
        versions="0.5.18..",
        sets=("attn-dp-size", "dp-size", "enable-dp-attention"),
        value=lambda s: (s.dwdp_size, 1, False) if at_least(s, "0.5.23") else (None, s.dwdp_size, True),
        source=_SOURCE,
        order=20,
    ),
)
