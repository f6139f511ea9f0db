"""The all-to-all backend decides the expert-parallel size.

## What it does
Finds an `ep-size` that an all-to-all backend replaces.

## Why
DeepEP, Mooncake, NIXL, MoRI, FlashInfer, pplx and MegaMoE dispatch tokens over all ranks of the tensor-parallel group, so
SGLang sets `ep-size` to `tp-size` with them, whatever was given. Memory per GPU follows: each rank then holds the experts
of one rank in `tp-size`.

## Fix
Safe: the value written is the one that SGLang uses.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/overrides.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.experts import SPANNING
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("MOE001", "all-to-all-sets-ep-size", "sglang", "a2a")

ROWS = (
    Row(
        "E1",
        SETS,
        when=lambda s: s.moe_a2a_backend in SPANNING and s.given("ep-size"),
        versions="0.5.2..",
        sets="ep-size",
        value=lambda s: s.tp_size,
        says="With moe-a2a-backend {moe_a2a_backend} SGLang sets ep-size to tp-size, {tp_size}. Write that, or leave it out.",
        fix=(Set("ep-size", lambda s: s.tp_size, SAFE),),
        source="srt/arg_groups/overrides.py",
        order=10,
        bad="--moe-a2a-backend deepep --ep-size 4 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--ep-size 8",
    ),
)
