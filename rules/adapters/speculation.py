"""Adapters do not go with this speculation.

## What it does
Finds LoRA together with a speculative algorithm, or a mode of it, that does not verify adapted tokens.

## Why
Up to 0.5.18 adapters work with NGRAM only, whose draft needs no model. From 0.5.20 on EAGLE, EAGLE3, DFLASH and DSPARK work
too, as the draft runs without adapters, but not with an adaptive number of steps or with the plan stream.

## Fix
Unsafe: one of the two has to go.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least, speculation
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("LOR002", "lora-with-speculation", "sglang", "checks")

_DRAFTING = ("EAGLE", "EAGLE3", "DFLASH", "DSPARK")


def adapted(s: State) -> bool:
    """Whether LoRA is on: by the flag, or because adapters are given."""
    return bool(s.enable_lora or s.lora_paths)


def _fault(s: State) -> str | None:
    if not adapted(s) or not speculation(s):
        return None
    name = algorithm(s)
    if name == "NGRAM":
        return None
    if not at_least(s, "0.5.20"):
        return "works with NGRAM only in this release"
    if name not in _DRAFTING:
        return "works with NGRAM, EAGLE, EAGLE3, DFLASH and DSPARK only"
    if s.speculative_adaptive:
        return "does not work with speculative-adaptive"
    if s.flag("SGLANG_ENABLE_OVERLAP_PLAN_STREAM"):
        return "does not work with SGLANG_ENABLE_OVERLAP_PLAN_STREAM"
    return None


ROWS = (
    Row(
        "L3",
        REFUSES,
        when=lambda s: _fault(s) is not None,
        versions="0.5.5..",
        says=lambda s: f"LoRA {_fault(s)}, not with {s.speculative_algorithm}. Leave one of the two out.",
        at="speculative-algorithm",
        fix=(Set("speculative-algorithm", "NGRAM"), Set("lora-paths", None), Set("enable-lora", None)),
        source="srt/arg_groups/lora_hook.py",
        order=24,
        bad="--lora-paths a=org/a --speculative-algorithm EAGLE3 --speculative-draft-model-path org/draft "
        "@ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:lora-paths",
    ),
)
