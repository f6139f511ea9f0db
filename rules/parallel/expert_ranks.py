"""The experts do not divide over the expert-parallel ranks.

## Why
Expert parallelism gives every rank a whole number of experts, redundant copies included, and its size must divide the
tensor-parallel size. Argument code accepts both; the server stops when the groups or the model are built.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h100-80" }
model = { profile = "Qwen/Qwen3-30B-A3B" }
flags = { tp-size = 8, ep-size = 3 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h100-80" }
model = { profile = "Qwen/Qwen3-30B-A3B" }
flags = { tp-size = 8, ep-size = 4 }
```

## Fix
None: which of the sizes that divide is wanted is a judgement.

## Source
sglang 0.5.9 and 0.5.23 srt/layers/moe/fused_moe_triton/layer.py, srt/distributed/parallel_state.py.
"""

from typing import Any

from preflight.engines.steps import DIES, Row, Topic

TOPIC = Topic("PAR019", "experts-do-not-divide", "sglang", "load")


def _experts(s: Any) -> int:
    return int(s.model.experts + (s.ep_num_redundant_experts or 0))


ROWS = (
    Row(
        "ep-tp",
        DIES,
        when=lambda s: (s.ep_size or 1) > 1 and s.tp_size % s.ep_size,
        versions="0.5.5..",
        says="ep-size {ep_size} does not divide tp-size {tp_size}. Use a divisor of {tp_size}.",
        at="ep-size",
        stage="init",
        source="srt/distributed/parallel_state.py initialize_model_parallel",
        bad="--tp-size 8 --ep-size 3 @ 0.5.9 8x-h100-80 qwen3-30b-a3b",
        good="--ep-size 4",
    ),
    Row(
        "ep-experts",
        DIES,
        when=lambda s: (s.ep_size or 1) > 1 and s.tp_size % s.ep_size == 0 and _experts(s) % s.ep_size,
        versions="0.5.5..",
        says=lambda s: (
            f"ep-size {s.ep_size} does not divide {_experts(s)} experts. Use a size that does, or redundant experts to fill up."
        ),
        at="ep-size",
        stage="load",
        source="srt/layers/moe/fused_moe_triton/layer.py",
    ),
)
