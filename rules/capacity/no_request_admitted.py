"""No request can run.

## What it does
Works out how many requests one worker serves at once: the given number divided among data-parallel workers, and what the KV
cache allows.

## Why
SGLang asserts after sizing that at least one request can run, and exits otherwise. max-running-requests counts for the whole
engine; up to 0.5.20 it is divided by the number of data-parallel workers, rounded down, so 4 requests on 8 workers are none.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.12"
hardware = { profile = "8x-h200" }
model = { profile = "deepseek-v3" }
flags = { tp-size = 8, dp-size = 8, enable-dp-attention = true, max-running-requests = 4 }
```
```toml good
engine = "sglang"
engine-version = "0.5.12"
hardware = { profile = "8x-h200" }
model = { profile = "deepseek-v3" }
flags = { tp-size = 8, dp-size = 8, enable-dp-attention = true, max-running-requests = 64 }
```

## Fix
Unsafe: raises the number to one request for each worker.

## Source
sglang 0.5.9 and 0.5.12 srt/managers/tp_worker.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import NO_REQUEST, Budget
from preflight.memory.judging import of_kind
from preflight.rule import rule

META = Rule("CAP003", "no-request-admitted", ERROR, "kv-sizing")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    yield from of_kind(launch, budget, NO_REQUEST)
