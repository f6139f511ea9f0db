"""The states of linear attention do not fit beside the KV cache.

## What it does
Works out how many states a hybrid model's linear layers (mamba, gated delta net, lightning) can keep, and what they leave for
the KV cache of its full layers.

## Why
Each running request holds states of constant size, up to five of them with a radix cache, and with speculative decoding one
more for each draft token. They are taken from the same memory as the KV cache, before it. A number of requests that looks
harmless can take all of it: 128 requests with 4 draft tokens of a large model need 14.5 GiB per GPU. The engine then exits
with a message about weights, or about the state cache.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.15"
hardware = { profile = "4x-h100-80" }
model = { profile = "qwen3-next-80b-a3b" }
flags = { tp-size = 4, disable-radix-cache = true, max-running-requests = 4096 }
```
```toml good
engine = "sglang"
engine-version = "0.5.15"
hardware = { profile = "4x-h100-80" }
model = { profile = "qwen3-next-80b-a3b" }
flags = { tp-size = 4, disable-radix-cache = true, max-running-requests = 128 }
```

## Fix
Unsafe: raises the memory fraction where that is enough; fewer requests are the other remedy.

## Source
sglang 0.5.15 srt/model_executor/model_runner_kv_cache_mixin.py; 0.5.23 srt/mem_cache/kv_cache_configurator.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import STATE_POOL, Budget
from preflight.memory.judging import of_kind
from preflight.rule import rule

META = Rule("MEM006", "state-pool-too-small", ERROR, "kv-sizing")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    yield from of_kind(launch, budget, STATE_POOL)
