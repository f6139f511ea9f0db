"""max-total-tokens is more than the memory holds.

## What it does
Compares max-total-tokens with the tokens that the KV cache is estimated to hold without it.

## Why
The flag can only lower the number of tokens. A larger value is ignored with a warning in the log, and whoever set it counts on
tokens that are not there. It does not rescue a pool that is too small either: that needs a larger memory fraction.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { max-total-tokens = 2_000_000 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { max-total-tokens = 200_000 }
```

## Fix
None: what was wanted, more tokens or the limit, is not the linter's to say.

## Source
sglang 0.5.9 srt/model_executor/model_runner_kv_cache_mixin.py; 0.5.23 srt/mem_cache/kv_cache_configurator.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import LIMIT, Budget
from preflight.memory.judging import of_kind
from preflight.rule import rule

META = Rule("CAP004", "limit-above-pool", WARNING)


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    yield from of_kind(launch, budget, LIMIT)
