"""HiCache takes a windowed model's smaller pool away.

## What it does
Reports `swa-full-tokens-ratio` of MiMo-V2 and Step-3.5 launches with HiCache, which replaces it.

## Why
A model with sliding windows keeps the KV cache of its windowed layers in a pool of its own, as windows need few tokens. The tiers
of HiCache copy whole pages of all layers, so for these models SGLang sets the ratio to 1 and gives the separate pool
up: the cache holds fewer tokens than without HiCache.

## Fix
Unsafe: leave the ratio out.

## Source
sglang 0.5.8 to 0.5.12 srt/server_args.py; 0.5.15 to 0.5.23 srt/arg_groups/overrides.py.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, Set, State, Topic

TOPIC = Topic("MEM056", "window-pool-and-tiers", "sglang", "model")


def _one_pool(s: State) -> bool:
    if not s.enable_hierarchical_cache:
        return False
    architecture = s.model.architecture
    if architecture in ("MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM"):
        return not at_least(s, "0.5.15")
    if architecture == "Step3p7ForConditionalGeneration":
        return at_least(s, "0.5.15")
    return architecture == "Step3p5ForCausalLM" and at_least(s, "0.5.9")


ROWS = (
    Row(
        "H13",
        SETS,
        when=lambda s: _one_pool(s) and s.given("swa-full-tokens-ratio"),
        versions="0.5.8..",
        sets="swa-full-tokens-ratio",
        value=1.0,
        says="With HiCache SGLang sets swa-full-tokens-ratio to 1 for this model. Leave it out.",
        fix=(Set("swa-full-tokens-ratio", None),),
        origin=MODEL_OVERRIDE,
        source="srt/arg_groups/overrides.py",
        order=36,
        bad="--enable-hierarchical-cache --swa-full-tokens-ratio 0.5 --tp-size 8 @ 0.5.9 8x-h200 mimo-v2-flash",
        good="--no:swa-full-tokens-ratio",
    ),
    Row(
        "H13-pool",
        SETS,
        when=_one_pool,
        versions="0.5.8..",
        sets=("swa-full-tokens-ratio", "disable-hybrid-swa-memory"),
        value=(1.0, True),
        origin=MODEL_OVERRIDE,
        source="srt/arg_groups/overrides.py",
        order=37,
    ),
)
