"""Some GPUs have much less free memory than others.

## What it does
Compares the free memory that was observed on each rank before loading.

## Why
SGLang takes the least free memory of all ranks as the base of its budget. A rank that has more than a ninth more than that
refuses to start: something else occupies the fuller GPU. The memory fraction does not help, for it is a share of the least.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
flags = { tp-size = 8, mem-fraction-static = 0.85 }
[observed]
free-before-load = ["94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "60.0 GiB"]
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
flags = { tp-size = 8, mem-fraction-static = 0.85 }
[observed]
free-before-load = ["94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "94.0 GiB", "93.9 GiB"]
```

## Fix
None: what occupies the GPU is not in the file. Where the check is to be skipped on purpose, the environment variable
SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK=0 does so from 0.5.8 on.

## Source
sglang 0.5.9 srt/model_executor/model_runner.py, init_torch_distributed.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import UNBALANCED, Budget
from preflight.memory.judging import of_kind
from preflight.rule import rule

META = Rule("MEM004", "unbalanced-ranks", ERROR, "init")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    yield from of_kind(launch, budget, UNBALANCED)
