"""Draft parameters are given in part.

## What it does
Finds EAGLE launches that give some of `speculative-num-steps`, `speculative-eagle-topk` and
`speculative-num-draft-tokens`, in a combination that SGLang cannot complete.

## Why
SGLang chooses the three together or not at all. Without `speculative-num-steps` the other two must be absent as well;
the check is a bare assertion without a message. With `speculative-num-steps` but without `speculative-eagle-topk` it
compares a number with nothing and stops with a TypeError. Steps and top-k alone are enough when top-k is 1: the draft
tokens are then the steps and one more.

## Fix
Unsafe: a depth of 3 is what SGLang chooses for most models; the best one depends on the draft and on the load.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.speculative import eagle
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC002", "incomplete-draft-parameters", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"

ROWS = (
    Row(
        "S3",
        REFUSES,
        when=lambda s: (
            eagle(s)
            and s.speculative_num_steps is None
            and (s.speculative_eagle_topk is not None or s.speculative_num_draft_tokens is not None)
        ),
        says=lambda s: (
            f"{_given(s)} without speculative-num-steps stops {s.speculative_algorithm} at a bare assertion. "
            "Give all three of them, or none."
        ),
        at="speculative-eagle-topk",
        fix=(
            Set("speculative-num-steps", 3),
            Set("speculative-eagle-topk", None),
            Set("speculative-num-draft-tokens", None),
        ),
        source=_SOURCE,
        order=38,
        bad="--speculative-algorithm EAGLE --speculative-eagle-topk 4 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--no:speculative-eagle-topk",
    ),
    Row(
        "S3",
        REFUSES,
        when=lambda s: eagle(s) and s.speculative_num_steps is not None and s.speculative_eagle_topk is None,
        versions="0.5.2..",
        says="speculative-num-steps {speculative_num_steps} without speculative-eagle-topk stops {speculative_algorithm} with a "
        "TypeError. Give speculative-eagle-topk too: 1 for a chain, more for a tree.",
        at="speculative-num-steps",
        fix=(Set("speculative-eagle-topk", 1), Set("speculative-num-steps", None)),
        source=_SOURCE,
        order=39,
        bad="--speculative-algorithm EAGLE --speculative-num-steps 3 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--speculative-eagle-topk 1",
    ),
)


def _given(s: State) -> str:
    names = ("speculative-eagle-topk", "speculative-num-draft-tokens")
    return " and ".join(f"{name} {value}" for name in names if (value := s.get(name)) is not None)
