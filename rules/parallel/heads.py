"""The attention heads do not divide over the ranks.

## Why
Tensor parallelism gives every rank a whole number of attention heads. SGLang's argument code does not look at it: the
server starts all processes, and stops with a bare assertion when the model is built. KV heads may be fewer than ranks, then
they are copied; but one number must divide the other. With DP attention the heads divide over the ranks of one group.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { tp-size = 6 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { tp-size = 4 }
```

## Fix
None: which of the sizes that divide is wanted is a judgement.

## Source
sglang 0.5.9 and 0.5.23 srt/layers/linear.py QKVParallelLinear, srt/distributed/utils.py divide.
"""

from typing import Any

from preflight.engines.sglang.kv import attention_tp
from preflight.engines.sglang.sharding import attention_heads_misfit, fitting_sizes
from preflight.engines.steps import DIES, Row, Topic

TOPIC = Topic("PAR018", "heads-do-not-divide", "sglang", "load")


def _message(s: Any) -> str:
    heads, ranks = s.model.heads, attention_tp(s)
    sizes = ", ".join(map(str, fitting_sizes(s, heads)))
    if heads % ranks:
        return f"tp-size {s.tp_size} gives {ranks} attention ranks, which do not divide {heads} attention heads. Use {sizes}."
    kv_heads = s.model.kv_heads
    return f"{ranks} attention ranks and {kv_heads} KV heads: neither number divides the other. Use a tp-size of {sizes}."


ROWS = (
    Row(
        "heads",
        DIES,
        when=attention_heads_misfit,
        says=_message,
        at="tp-size",
        stage="load",
        source="srt/layers/linear.py QKVParallelLinear",
        bad="--tp-size 6 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--tp-size 4",
    ),
)
