"""The KV cache does not hold what the launch file expects of it.

## What it does
Compares the `[expect]` table with the tokens that the KV cache is estimated to hold, and with the number of requests that
may run at once.

## Why
A server that starts can still be useless: requests queue, are retracted, or are refused for their length. `[expect]` says
what the launch is for: so many tokens in all, or `concurrent-requests` times `context-length` tokens at once.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { tp-size = 1 }
expect = { context-length = 131_072, concurrent-requests = 16 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b" }
flags = { tp-size = 1 }
expect = { context-length = 131_072, concurrent-requests = 2 }
```

## Fix
None: more memory, a smaller format of weights or KV cache, and a smaller expectation are all remedies.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import Budget
from preflight.rule import rule
from preflight.text import Place
from preflight.units import gib

META = Rule("CAP001", "expectation-not-met", ERROR)


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    expect, tokens = launch.expect, budget.tokens
    table = launch.tables.get("expect", {})
    at = next((located.place for located in table.values()), launch.head)
    requests = expect.concurrent_requests or 1
    if tokens is not None:
        if expect.kv_tokens is not None and tokens.expected < expect.kv_tokens:
            yield _too_few(budget, expect.kv_tokens, f"{expect.kv_tokens:,} tokens are", table["kv-tokens"].place)
        elif expect.context_length is not None and tokens.expected < expect.context_length * requests:
            what = f"{requests:,} × {expect.context_length:,} tokens are"
            yield _too_few(budget, expect.context_length * requests, what, at if "kv-tokens" in table else _first(table, at))
    limit = launch.known("max-running-requests")
    if expect.concurrent_requests is not None and isinstance(limit, int) and limit < expect.concurrent_requests:
        yield Finding(
            f"max-running-requests {limit:,} admits fewer requests at once than the {expect.concurrent_requests:,} expected. "
            f"Raise it to {expect.concurrent_requests:,}, or expect less.",
            launch.place("max-running-requests"),
            severity=ERROR if launch.use("max-running-requests") else WARNING,
            related=launch.related((), launch.head),
        )


def _first(table: object, otherwise: Place) -> Place:
    for key in ("context-length", "concurrent-requests"):
        located = table.get(key) if isinstance(table, dict) else None
        if located is not None:
            place: Place = located.place
            return place
    return otherwise


def _too_few(budget: Budget, needed: int, what: str, at: Place) -> Finding:
    tokens = budget.tokens
    assert tokens is not None
    proven = tokens.ceil < needed
    missing = ""
    if budget.bytes_per_token:
        missing = f" {gib((needed - tokens.expected) * budget.bytes_per_token)} per GPU are missing."
    return Finding(
        f"The KV cache {'holds' if proven else 'is expected to hold'} {tokens.expected:,.0f} tokens, but {what} expected."
        f"{missing} Free memory for it (fewer weights per GPU, an FP8 KV cache), or expect less.",
        at,
        severity=ERROR if proven else WARNING,
        data={"tokens": tokens.expected, "needed": needed},
    )
