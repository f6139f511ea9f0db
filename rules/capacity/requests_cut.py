"""Fewer requests run at once than max-running-requests asks for.

## What it does
Works out how many requests the pools allow, and compares that with the number that is given.

## Why
The engine lowers the number to what its pools serve: half of the tokens, the states that a hybrid model can keep, and in 0.5.10
to 0.5.12 a bound of 2,048 to 4,096 that is not even logged. Load tests that count on the given number then measure a queue.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.12"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { max-running-requests = 8192 }
```
```toml good
engine = "sglang"
engine-version = "0.5.12"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { max-running-requests = 1024 }
```

## Fix
None: a larger pool and a smaller number are both remedies.

## Source
sglang 0.5.12 srt/model_executor/model_runner_kv_cache_mixin.py; 0.5.23 srt/mem_cache/kv_cache_configurator.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import REQUESTS_CUT, Budget
from preflight.memory.judging import of_kind
from preflight.rule import rule

META = Rule("CAP005", "requests-cut", WARNING)


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    yield from of_kind(launch, budget, REQUESTS_CUT)
