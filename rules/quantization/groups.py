"""A rank gets no whole number of quantization groups.

## Why
Block-quantized FP8 has a scale for each 128 x 128 weights, INT4 formats one for each group of 32 to 128. A rank's share of an
intermediate size must be a whole number of them. DeepSeek-R1 in FP8 at TP32 has 2048 / 32 = 64 columns of each expert on a
rank, half a block. Argument code accepts the size; the server stops when the weights are created.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200", nodes = 4 }
model = { profile = "deepseek-v3" }
flags = { tp-size = 32, nnodes = 4, dist-init-addr = "head:5000" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200", nodes = 2 }
model = { profile = "deepseek-v3" }
flags = { tp-size = 16, nnodes = 2, dist-init-addr = "head:5000" }
```

## Fix
None: fewer ranks, expert parallelism and another format are all remedies.

## Source
sglang 0.5.9 and 0.5.23 srt/layers/quantization/fp8.py, awq.py, gptq.py (create_weights).
"""

from typing import Any

from preflight.engines.sglang.sharding import misfits
from preflight.engines.steps import DIES, Row, Topic

TOPIC = Topic("QNT010", "ranks-split-quantization-groups", "sglang", "load")


def _message(s: Any) -> str:
    misfit = next(misfits(s))
    share = misfit.width / misfit.ranks
    return (
        f"{misfit.width:,} columns of {misfit.name} over {misfit.ranks} ranks are {share:,.6g} each, no whole number of "
        f"quantization groups of {misfit.group}. Use fewer ranks, expert parallelism, or weights in another format."
    )


ROWS = (
    Row(
        "Q9",
        DIES,
        when=lambda s: next(misfits(s), None) is not None,
        says=_message,
        at="tp-size",
        stage="load",
        source="srt/layers/quantization/fp8.py create_weights",
        bad="--tp-size 32 --nnodes 4 --dist-init-addr head:5000 @ 0.5.9 8x-h200 deepseek-v3",
        good="--tp-size 16",
    ),
)
