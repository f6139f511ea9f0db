"""Speculative decoding turns mixed chunks off.

## What it does
Finds `enable-mixed-chunk` with an algorithm that cannot take part in a mixed step.

## Why
A mixed step runs a chunk of one prompt together with the decode batch. Drafted requests would fall back to one token in
such a step. Only EAGLE, EAGLE3, DFLASH and DSPARK can resume from it, since 0.5.20; for all others, and before, SGLang
turns mixed chunks off and goes on.

## Fix
Safe: the flag has no effect.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py, srt/speculative/spec_info.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.sglang.speculative import keeps_mixed_chunk
from preflight.engines.steps import SETS, Row, Set, State, Topic

TOPIC = Topic("SPC008", "speculation-disables-mixed-chunk", "sglang", "speculative")

_FAMILY = ("EAGLE", "EAGLE3", "STANDALONE", "NGRAM", "FROZEN_KV_MTP", "UNO")


def _turns_off(s: State) -> bool:
    if not s.enable_mixed_chunk:
        return False
    name = algorithm(s)
    if name == "DFLASH":
        return not at_least(s, "0.5.15")
    return name in _FAMILY and not keeps_mixed_chunk(s)


ROWS = (
    Row(
        "S8",
        SETS,
        when=_turns_off,
        versions="0.4.10..",
        sets="enable-mixed-chunk",
        value=False,
        says="{speculative_algorithm} speculation turns enable-mixed-chunk off. Leave it out.",
        fix=(Set("enable-mixed-chunk", None, SAFE),),
        source="srt/arg_groups/speculative_hook.py",
        order=33,
        bad="--speculative-algorithm NGRAM --enable-mixed-chunk @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:enable-mixed-chunk",
    ),
)
