"""Nothing is left for the KV cache.

## What it does
Compares the memory fraction with the share of memory that the weights take.

## Why
SGLang sizes the KV cache as `rest = available - free_before_load * (1 - mem-fraction-static)`. `available` is the memory
that is free after the weights are loaded; `free_before_load` is the memory that was free *before* loading, the least over
all ranks, in GiB. It is not the size of the card. So `1 - mem-fraction-static` of that memory is kept back, whatever it is
needed for, and the weights must fit into the rest of it with room to spare. When they do not, the server exits after
minutes of loading with "Not enough memory", or from 0.5.15 on with a message that names a least fraction.

The remedy is to *raise* the fraction: the least one that can work is `1 - available / free_before_load`, plus one page of
tokens. An out-of-memory error later, while CUDA graphs are captured or in the first prefill, is the opposite failure and
wants a lower fraction (MEM002).

Example: 94.0 GiB were free before Kimi-K2.5 INT4 was loaded on eight 96 GiB cards, and 21.7 GiB after. With 0.55 the engine
keeps back 42.3 GiB, so -20.6 GiB are left for the KV cache. 0.7692 is the least fraction that can start; 0.88 leaves
10.4 GiB. Custom all-reduce buffers are innocent: they are taken before `free_before_load` is measured, and some 24 MiB each.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB" }
flags = { tp-size = 8, mem-fraction-static = 0.55 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB" }
flags = { tp-size = 8, mem-fraction-static = 0.845 }
```

## Fix
Unsafe: the new fraction is a choice between KV cache and room for CUDA graphs and activations.

## Source
sglang 0.5.9 srt/model_executor/model_runner_kv_cache_mixin.py; 0.5.23 srt/mem_cache/kv_cache_configurator.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, UNSAFE, WARNING, Finding, Fix, Rule
from preflight.engines.base import Launch
from preflight.memory.budget import Budget
from preflight.rule import rule
from preflight.units import GIB, gib

META = Rule("MEM001", "nonnegative-rest-memory", ERROR, "kv-sizing")


@rule(META)
def check(launch: Launch, budget: Budget) -> Iterator[Finding]:
    rest, knob = budget.rest, budget.knob
    if rest is None or knob.value is None or not budget.starves:
        return
    yield Finding(
        f"{_fact(launch, budget)} {_remedy(budget)}",
        launch.place(knob.setting),
        severity=ERROR if budget.proven_to_starve else WARNING,
        stage="kv-sizing" if budget.proven_to_starve else None,
        fixes=tuple(_fixes(launch, budget)),
        data={
            "rest_gib": rest.expected / GIB,
            "value": knob.value,
            "minimum": knob.minimum,
            "suggested": knob.suggested,
        },
    )


def _fact(launch: Launch, budget: Budget) -> str:
    knob, rest = budget.knob, budget.rest
    assert rest is not None
    name = knob.setting if launch.use(knob.setting) else f"the automatic {knob.setting}"
    left = "leaves" if budget.proven_to_starve else "is expected to leave"
    text = f"{name} {knob.value:.4g} {left} {gib(rest.expected)} for the KV cache"
    if rest.expected > 0:
        text += f", less than one page of {budget.page_tokens:,} tokens ({gib(budget.page_bytes)})"
    text = text[0].upper() + text[1:] if text.startswith("the ") else text
    weights, before = budget.weights, budget.free_before_load
    if weights is None or before is None:
        return f"{text}."
    drafts = f" and the draft model {gib(budget.draft_weights.expected)}" if budget.draft_weights else ""
    kept = "" if budget.reserved is None else f", and {gib(budget.reserved.expected)} are kept back"
    return f"{text}: weights take {gib(weights.expected)}{drafts} of the {gib(before.expected)} free before loading{kept}."


def _remedy(budget: Budget) -> str:
    knob = budget.knob
    if knob.minimum is None:
        return "No value helps: spread the weights over more GPUs, or use a smaller weight format."
    if knob.suggested is None:
        return (
            f"Raise it to at least {knob.minimum:g}; that leaves less than CUDA graphs and activations are expected to need, "
            "so more GPUs or a smaller weight format are the safer remedy."
        )
    return f"Raise it to at least {knob.minimum:g}; {knob.suggested:g} also leaves room for what is allocated later."


def _fixes(launch: Launch, budget: Budget) -> Iterator[Fix]:
    knob = budget.knob
    if knob.suggested is not None:
        yield from launch.fix(knob.setting, knob.suggested, f"Raise {knob.setting} to {knob.suggested:g}", UNSAFE)
    automatic = launch.without(knob.setting) if _may_serve(launch, budget) else None
    if automatic is None:
        return
    outlook = launch.engine.budget(automatic)
    if outlook.tokens is not None and outlook.tokens.expected >= _needed(launch, outlook):
        yield from launch.fix(knob.setting, None, f"Leave {knob.setting} to the engine ({outlook.knob.value:.4g})", UNSAFE)


def _may_serve(launch: Launch, budget: Budget) -> bool:
    """Whether the engine's own value, which leaves no less room for what is late than the suggested one, could be of use."""
    knob, rest, before, cell = budget.knob, budget.rest, budget.free_before_load, budget.bytes_per_token
    if knob.suggested is None or knob.value is None or rest is None or before is None or not cell:
        return False
    room = rest.expected + (knob.suggested - knob.value) * before.expected
    return room >= 0.9 * _needed(launch, budget) * cell


def _needed(launch: Launch, budget: Budget) -> float:
    """The tokens that a pool must hold to be of use: what is expected of it, else one full context."""
    expect = launch.expect
    if expect.kv_tokens is not None:
        return expect.kv_tokens
    context = expect.context_length or budget.context_length
    return float("inf") if context is None else context * (expect.concurrent_requests or 1)
