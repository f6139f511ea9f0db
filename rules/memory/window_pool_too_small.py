"""The sliding-window layers' pool cannot hold one request.

## What it does
Works out how the KV cache is shared between full layers and sliding-window layers, and compares the sliding pool with what
one request needs.

## Why
Models such as gpt-oss, Llama 4 and MiMo-V2 keep two pools. The sliding one has swa-full-tokens-ratio tokens for each of the
full one. A prefill needs a window and a page in it: with less, no request is ever admitted, and from 0.5.18 on the engine
refuses to start. Where the radix cache is off and the number of requests is given, 0.5.15 and later size the sliding pool by
that number instead; it may then leave nothing for the full layers.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
hardware = { profile = "1x-h100-80" }
model = { profile = "gpt-oss-20b" }
flags = { mem-fraction-static = 0.2, swa-full-tokens-ratio = 0.001 }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
hardware = { profile = "1x-h100-80" }
model = { profile = "gpt-oss-20b" }
flags = { mem-fraction-static = 0.8 }
```

## Fix
Unsafe: raises the memory fraction where that is enough.

## Source
sglang 0.5.18 and 0.5.23 srt/model_executor/pool_configurator.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import WINDOW_POOL, Budget
from preflight.memory.judging import of_kind
from preflight.rule import rule

META = Rule("MEM005", "window-pool-too-small", ERROR, "kv-sizing")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    yield from of_kind(launch, budget, WINDOW_POOL)
