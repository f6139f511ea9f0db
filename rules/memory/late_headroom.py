"""What is allocated after the KV cache does not fit beside it.

## What it does
Adds up what an engine allocates after it has sized the KV cache (the request table, attention workspaces, CUDA graphs,
symmetric memory, activations) and compares the sum with what the memory fraction keeps back.

## Why
SGLang keeps back `(1 - mem-fraction-static) * free_before_load` and gives the rest to weights and KV cache. All that comes
later must fit into what was kept back. Where it does not, the server runs out of memory when the pools are created, while
CUDA graphs are captured, or in the first prefill: after everything else has succeeded. The message asks for one thing or
another, but the remedy is to *lower* the fraction, or the consumer itself. It is the opposite of MEM001.

A consumer that surprises: the request table has one 4-byte entry for each of 2,048 rows and each position of the context,
outside the budget. A context of 262,144 tokens costs 2 GiB, one of 10,485,760 tokens 80 GiB.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200" }
model = { profile = "llama-3.1-8b" }
flags = { tp-size = 8, mem-fraction-static = 0.995 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h200" }
model = { profile = "llama-3.1-8b" }
flags = { tp-size = 8, mem-fraction-static = 0.88 }
```

## Fix
Unsafe: lowers the fraction to the value that leaves the expected consumers their room.

## Source
sglang 0.5.9 srt/mem_cache/memory_pool.py (request table), srt/model_executor/model_runner.py (order of allocation).
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, UNSAFE, WARNING, Finding, Fix, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import LATE, Budget
from preflight.memory.range import Range
from preflight.rule import rule
from preflight.units import GIB, gib

META = Rule("MEM002", "late-memory-headroom", ERROR, "capture")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    late, headroom, knob = budget.late, budget.headroom, budget.knob
    if late is None or headroom is None or knob.value is None or late.expected <= headroom.expected:
        return
    proven = late.floor > headroom.ceil
    biggest = max((row for row in budget.rows if row.phase == LATE), key=lambda row: _counted(row.bytes, proven=proven))
    least = _counted(late, proven=proven)
    value = f"{knob.setting} {knob.value:.4g}"
    name = value if launch.use(knob.setting) else f"The automatic {value}"
    lower = knob.suggested is not None and knob.suggested < knob.value
    yield Finding(
        f"{name} keeps back {gib(headroom.expected)}, but what is allocated after the KV cache "
        f"{'needs at least' if proven else 'is expected to need'} {gib(least)}, of which the {biggest.name} "
        f"{gib(_counted(biggest.bytes, proven=proven))}. " + _remedy(budget, biggest.name, lower=lower),
        launch.place(knob.setting),
        severity=ERROR if proven else WARNING,
        stage="capture" if proven else None,
        fixes=_fixes(launch, budget) if lower else (),
        data={"late_gib": late.expected / GIB, "late_least_gib": least / GIB, "headroom_gib": headroom.expected / GIB},
    )


def _counted(bytes: Range, *, proven: bool) -> float:
    return bytes.floor if proven else bytes.expected


def _remedy(budget: Budget, biggest: str, *, lower: bool) -> str:
    if biggest == "request table":
        return "Lower context-length or max-running-requests: the table has a row per request and an entry per position."
    if lower:
        return f"Lower it to {budget.knob.suggested:g}."
    return f"Lower it, or the {biggest}."


def _fixes(launch: Launch, budget: Budget) -> tuple[Fix, ...]:
    knob = budget.knob
    return launch.fix(knob.setting, knob.suggested, f"Lower {knob.setting} to {knob.suggested:g}", UNSAFE)
