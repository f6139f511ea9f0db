"""The weights alone do not fit the GPU.

## What it does
Compares the weights that one GPU holds, as the engine spreads them, with all the memory that the GPU has.

## Why
Loading ends in an out-of-memory error after minutes of reading. No memory fraction helps: the fraction only says how much of
what is left goes to the KV cache. The remedies are more GPUs per replica (a larger tensor- or pipeline-parallel size), a
smaller weight format, or a larger GPU. Data parallelism does not help, for each replica holds all weights; with expert or
attention data parallelism parts of the model are even held more often.

Only the checkpoint's own bytes count as proof, without padding and without what loading leaves behind.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "4x-h100-80" }
model = { profile = "deepseek-v3" }
flags = { tp-size = 4 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200" }
model = { profile = "deepseek-v3" }
flags = { tp-size = 8 }
```

## Fix
None: how many GPUs there are is not the file's to say.

## Source
sglang 0.5.9 srt/model_executor/model_runner.py, load_model.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import Budget
from preflight.rule import rule
from preflight.units import GIB, gib

META = Rule("MEM003", "weights-exceed-gpu", ERROR, "load")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    weights, free = budget.weights, budget.free_before_load
    if weights is None or free is None or weights.expected <= free.expected:
        return
    proven = weights.floor > free.ceil
    least = weights.floor if proven else weights.expected
    yield Finding(
        f"The weights take {'at least ' if proven else ''}{gib(least)} per GPU, of which there are {gib(free.ceil)}. "
        "Spread them over more GPUs or use a smaller weight format; the memory fraction does not help.",
        launch.place("tp-size"),
        severity=ERROR if proven else WARNING,
        stage="load" if proven else None,
        data={"weights_gib": weights.expected / GIB, "least_gib": weights.floor / GIB, "memory_gib": free.ceil / GIB},
    )
