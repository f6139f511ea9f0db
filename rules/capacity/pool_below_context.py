"""The KV cache holds less than one full context.

## What it does
Compares the tokens that the KV cache is estimated to hold with the context length that the server admits.

## Why
The server starts, and no version refuses. A request longer than the pool is then rejected or cut at serving time, and a few
long ones block all others. The pool is what really bounds the context.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB" }
flags = { tp-size = 8, mem-fraction-static = 0.88 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB" }
flags = { tp-size = 8, mem-fraction-static = 0.88, context-length = 131_072 }
```

## Fix
None: a shorter context and a larger pool are both remedies.

## Source
sglang 0.5.9 srt/managers/tp_worker.py (longest admitted request); 0.5.23 warns of it in srt/mem_cache/kv_cache_configurator.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import Budget
from preflight.rule import rule
from preflight.units import gib

META = Rule("CAP002", "pool-below-context", WARNING)


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    tokens, context = budget.tokens, budget.context_length
    if tokens is None or context is None or tokens.expected >= context or budget.bytes_per_token is None:
        return
    share = tokens.expected / context
    needed = context * budget.bytes_per_token
    yield Finding(
        f"The KV cache holds {tokens.expected:,.0f} tokens, {share:.2f} of one {context:,}-token context, which would need "
        f"{gib(needed)} per GPU. {_remedy(launch, budget, context)}",
        launch.place("context-length"),
        related=launch.related([budget.knob.setting], launch.place("context-length")),
        data={"tokens": tokens.expected, "context_length": context, "full_context_requests": share},
    )


def _remedy(launch: Launch, budget: Budget, context: int) -> str:
    tokens = budget.tokens
    assert tokens is not None
    if tokens.expected < 1:
        return "Make room for a KV cache."
    shorter = f"Set context-length to {_rounded(tokens.expected):,} or less"
    if launch.known("kv-cache-dtype") in ("auto", "bf16", "bfloat16") and tokens.expected * 2 >= context:
        return f"{shorter}, or store the cache as FP8 (kv-cache-dtype fp8_e4m3), which doubles it."
    return f"{shorter}, or make room for a larger cache."


def _rounded(tokens: float) -> int:
    """A length that fits, in whole thousands where there are some."""
    step = 1024 if tokens >= 4096 else 1
    return int(tokens) // step * step
