"""The draft's attention window is impossible or ignored.

## What it does
Finds `speculative-draft-window-size` and `speculative-draft-sink-size` values that SGLang refuses or ignores.

## Why
The window bounds the tokens that the draft attends to, and the sink keeps the first ones beside it. A window must be
positive and, for DFLASH, hold one block; a sink means nothing without a window. Algorithms that do not read the window
ignore it with a warning.

## Fix
Unsafe: a window is a choice.

## Source
sglang 0.5.15.post1 to 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("SPC014", "draft-window", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"


def _readers(s: State) -> tuple[str, ...]:
    return ("EAGLE", "EAGLE3", "DFLASH") if at_least(s, "0.5.23") else ("EAGLE3", "DFLASH")


ROWS = (
    Row(
        "S25",
        REFUSES,
        when=lambda s: (
            s.speculative_draft_window_size is not None
            and s.speculative_draft_window_size <= 0
            and (at_least(s, "0.5.15") or algorithm(s) == "DFLASH")
        ),
        versions="0.5.12..",
        says="speculative-draft-window-size {speculative_draft_window_size} is not positive. Leave it out for no window.",
        at="speculative-draft-window-size",
        fix=(Set("speculative-draft-window-size", None),),
        source=_SOURCE,
        order=14,
        bad="--speculative-algorithm EAGLE3 --speculative-draft-model-path org/draft --speculative-draft-window-size 0 "
        "@ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:speculative-draft-window-size",
    ),
    Row(
        "S25",
        REFUSES,
        when=lambda s: (
            s.speculative_draft_sink_size is not None
            and (s.speculative_draft_sink_size < 0 or s.speculative_draft_window_size is None)
        ),
        versions="0.5.23..",
        says="speculative-draft-sink-size {speculative_draft_sink_size} needs to be at least 0, beside a "
        "speculative-draft-window-size. Give a window, or leave the sink out.",
        at="speculative-draft-sink-size",
        fix=(Set("speculative-draft-sink-size", None),),
        source=_SOURCE,
        order=15,
    ),
    Row(
        "S25",
        REFUSES,
        when=lambda s: (
            algorithm(s) == "DFLASH"
            and s.speculative_draft_window_size is not None
            and s.speculative_draft_window_size < s.speculative_num_draft_tokens
        ),
        versions="0.5.12..",
        says="speculative-draft-window-size {speculative_draft_window_size} is less than one block of "
        "{speculative_num_draft_tokens} draft tokens. Raise it.",
        at="speculative-draft-window-size",
        fix=(Set("speculative-draft-window-size", lambda s: s.speculative_num_draft_tokens),),
        source=_SOURCE,
        order=35,
    ),
    Row(
        "S25",
        WARNS,
        when=lambda s: (
            s.speculative_draft_window_size is not None
            and s.speculative_draft_window_size > 0
            and algorithm(s) not in _readers(s)
        ),
        versions="0.5.15..",
        says="speculative-draft-window-size has no effect with this algorithm. Leave it out.",
        at="speculative-draft-window-size",
        fix=(Set("speculative-draft-window-size", None),),
        source=_SOURCE,
        order=16,
    ),
)
