"""Context-parallel or expert-data-parallel sizes do not fit tp-size.

## What it does
Checks attn-cp-size and moe-dp-size against tp-size, ep-size and pp-size.

## Why
Both split the tp-size ranks further: attention over attn-cp-size ranks of one sequence, experts over moe-dp-size
copies. The sizes must divide, expert parallel size times copies must fill the ranks, and the copies need attention
that is split the same way (from 0.5.12 on).

## Source
sglang srt/server_args.py `_handle_context_parallelism`, 0.5.9 to 0.5.18; srt/arg_groups/parallel_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.sglang.facts import at_least, largest_divisor, splits
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("PAR011", "context-parallel-size", "sglang", "context-parallel")
_SOURCE = "srt/server_args.py _handle_context_parallelism"


def _groups(s: State) -> int:
    """What attn-cp-size is multiplied by: up to 0.5.20 dp-size, with or without DP attention."""
    return int(s.attn_dp_size if at_least(s, "0.5.23") else s.dp_size)


ROWS = (
    Row(
        "P17",
        REFUSES,
        when=lambda s: s.attn_cp_size > 1 and not splits(s.tp_size, s.attn_cp_size),
        versions="0.5.9..",
        says="attn-cp-size {attn_cp_size} does not divide tp-size {tp_size}. Use a divisor of {tp_size}.",
        at="attn-cp-size",
        fix=(Set("attn-cp-size", lambda s: largest_divisor(s.tp_size, s.attn_cp_size)),),
        source=_SOURCE,
        bad="--tp-size 8 --attn-cp-size 3 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--attn-cp-size 4",
    ),
    Row(
        "P18",
        REFUSES,
        when=lambda s: (
            s.attn_cp_size > 1 and splits(s.tp_size, s.attn_cp_size) and not splits(s.tp_size, _groups(s) * s.attn_cp_size)
        ),
        versions="0.5.9..",
        says=lambda s: (
            f"{_groups(s)} data-parallel ranks × attn-cp-size {s.attn_cp_size} do not divide tp-size {s.tp_size}. Lower one "
            f"of them."
        ),
        at="attn-cp-size",
        fix=(Set("attn-cp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --dp-size 4 --attn-cp-size 4 --enable-dp-attention @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--attn-cp-size 2",
    ),
    Row(
        "P19",
        REFUSES,
        when=lambda s: s.attn_cp_size > 1 and s.pp_size > 1,
        versions="0.5.9..0.5.9",
        says="attn-cp-size {attn_cp_size} does not work with pp-size {pp_size} in this release (it does from 0.5.10 on). Set "
        "one of them "
        "to 1.",
        at="attn-cp-size",
        fix=(Set("attn-cp-size", 1), Set("pp-size", 1)),
        source=_SOURCE,
        bad="--tp-size 4 --pp-size 2 --attn-cp-size 2 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--pp-size 1",
    ),
    Row(
        "P20-tp",
        REFUSES,
        when=lambda s: s.moe_dp_size > 1 and not splits(s.tp_size, s.moe_dp_size),
        versions="0.5.9..",
        says="moe-dp-size {moe_dp_size} does not divide tp-size {tp_size}. Use a divisor of {tp_size}.",
        at="moe-dp-size",
        fix=(Set("moe-dp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --moe-dp-size 3 @ 0.5.9 8x-h100-80 mixtral-8x7b",
        good="--moe-dp-size 1",
    ),
    Row(
        "P20-ep",
        REFUSES,
        when=lambda s: (
            s.moe_dp_size > 1
            and (s.ep_size * s.moe_dp_size > s.tp_size or (s.ep_size > 1 and s.ep_size * s.moe_dp_size != s.tp_size))
        ),
        versions="0.5.9..",
        says="ep-size {ep_size} × moe-dp-size {moe_dp_size} must equal tp-size {tp_size}. Change one of them, or set "
        "moe-dp-size to 1.",
        at="moe-dp-size",
        fix=(Set("moe-dp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --ep-size 8 --moe-dp-size 2 @ 0.5.9 8x-h100-80 mixtral-8x7b",
        good="--moe-dp-size 1",
    ),
    Row(
        "P20-pp",
        REFUSES,
        when=lambda s: s.moe_dp_size > 1 and s.pp_size != 1,
        versions="0.5.9..",
        says="moe-dp-size {moe_dp_size} does not work with pp-size {pp_size}. Set one of them to 1.",
        at="moe-dp-size",
        fix=(Set("moe-dp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 4 --pp-size 2 --moe-dp-size 2 @ 0.5.9 8x-h100-80 mixtral-8x7b",
        good="--moe-dp-size 1",
    ),
    Row(
        "P21",
        REFUSES,
        when=lambda s: s.moe_dp_size != 1 and s.attn_cp_size != s.moe_dp_size,
        versions="0.5.12..",
        says="moe-dp-size {moe_dp_size} needs attn-cp-size {moe_dp_size}; here it is {attn_cp_size}. Make them equal, or set "
        "moe-dp-size "
        "to 1.",
        at="moe-dp-size",
        fix=(Set("moe-dp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --moe-dp-size 2 @ 0.5.23 8x-h100-80 mixtral-8x7b",
        good="--attn-cp-size 2",
    ),
    Row(
        "P22-nemotron",
        REFUSES,
        when=lambda s: s.attn_cp_size > 1 and str(s.model.model_type).startswith("nemotron_h"),
        versions="0.5.23..",
        says="Nemotron-H does not support attn-cp-size {attn_cp_size}. Set it to 1.",
        at="attn-cp-size",
        fix=(Set("attn-cp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --attn-cp-size 2 @ 0.5.23 8x-h100-80 nemotron-3-nano",
        good="--attn-cp-size 1",
        order=10,
    ),
    Row(
        "P22",
        REFUSES,
        when=lambda s: s.enable_aiter_allreduce_fusion and (s.attn_cp_size > 1 or s.moe_dp_size > 1),
        versions="0.5.10..",
        says="enable-aiter-allreduce-fusion does not work with context parallelism. Take it out.",
        at="enable-aiter-allreduce-fusion",
        fix=(Set("enable-aiter-allreduce-fusion", None),),
        source=_SOURCE,
        bad="--tp-size 8 --attn-cp-size 2 --enable-aiter-allreduce-fusion @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-aiter-allreduce-fusion",
    ),
)
