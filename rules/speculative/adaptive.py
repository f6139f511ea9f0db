"""Adaptive speculation is not possible here.

## What it does
Finds `speculative-adaptive` where SGLang turns it off again, and step counts that it refuses.

## Why
Adaptive speculation changes the number of steps with the load, among the candidates of its configuration (0, 1, 3, 5 and
7 by default; 0.5.15: 0, 1, 3 and 7). It is implemented for EAGLE and EAGLE3 chains without DP attention, several-layer
EAGLE, two-batch overlap and PD multiplexing; elsewhere SGLang warns and keeps the number of steps.

## Fix
Safe to remove where it has no effect.

## Source
sglang 0.5.12.post1 to 0.5.23 srt/speculative/adaptive_spec_params.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import algorithm, at_least, dp_attention
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("SPC015", "adaptive-speculation", "sglang", "speculative")

_SOURCE = "srt/speculative/adaptive_spec_params.py"


def _reason(s: State) -> str | None:
    if not s.speculative_adaptive:
        return None
    if algorithm(s) not in ("EAGLE", "EAGLE3"):
        return f"{algorithm(s) or 'a launch without speculation'} is not EAGLE or EAGLE3"
    if s.speculative_eagle_topk != 1 and (s.speculative_eagle_topk is not None or not at_least(s, "0.5.15")):
        return f"speculative-eagle-topk is {s.speculative_eagle_topk}, not 1"
    if dp_attention(s):
        return "DP attention is on"
    for flag in ("enable-multi-layer-eagle", "enable-two-batch-overlap", "enable-pdmux"):
        if s.get(flag):
            return f"{flag} is on"
    return None


def candidates(s: State) -> tuple[int, ...]:
    return (0, 1, 3, 5, 7) if at_least(s, "0.5.20") else (0, 1, 3, 7)


ROWS = (
    Row(
        "S26",
        SETS,
        when=lambda s: _reason(s) is not None,
        versions="0.5.12..0.5.12",
        sets="speculative-adaptive",
        value=False,
        says="SGLang turns speculative-adaptive off here. Leave it out.",
        fix=(Set("speculative-adaptive", None, SAFE),),
        source=_SOURCE,
        order=90,
    ),
    Row(
        "S26",
        SETS,
        when=lambda s: _reason(s) is not None,
        versions="0.5.15..",
        sets="speculative-adaptive",
        value=False,
        says="SGLang turns speculative-adaptive off here: it needs EAGLE or EAGLE3 with speculative-eagle-topk 1, and no DP "
        "attention, two-batch overlap or PD multiplexing. Leave it out.",
        fix=(Set("speculative-adaptive", None, SAFE),),
        source=_SOURCE,
        order=17,
        bad="--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 2 --speculative-num-draft-tokens 8 "
        "--speculative-adaptive --tp-size 8 @ 0.5.23 8x-h200 deepseek-v3",
        good="--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
    ),
    Row(
        "S26",
        REFUSES,
        when=lambda s: (
            s.speculative_adaptive
            and s.speculative_adaptive_config is None
            and s.speculative_num_steps is not None
            and s.speculative_num_steps not in candidates(s)
        ),
        versions="0.5.15..",
        says=lambda s: (
            f"speculative-num-steps {s.speculative_num_steps} is not among the adaptive candidates "
            f"{', '.join(map(str, candidates(s)))}. Use one of them."
        ),
        at="speculative-num-steps",
        fix=(Set("speculative-num-steps", 3),),
        source=_SOURCE,
        order=19,
    ),
)
