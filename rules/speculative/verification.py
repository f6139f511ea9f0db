"""The way of verification does not fit the algorithm.

## What it does
Finds `speculative-use-rejection-sampling` and `speculative-use-block-verification` where SGLang refuses them.

## Why
Rejection sampling needs the draft's whole distribution over the target's vocabulary and a chain: EAGLE or EAGLE3 with
top-k 1 and both accept thresholds at 1. Block verification is also possible for DFLASH and DSPARK. NGRAM ignores the
first silently and refuses the second.

## Fix
Unsafe: the flag or the tree has to go.

## Source
sglang 0.5.15.post1 to 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least, speculation
from preflight.engines.sglang.speculative import eagle
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC013", "unsupported-verification", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"


def _sampling(s: State) -> bool:
    return eagle(s) and bool(s.speculative_use_rejection_sampling)


ROWS = (
    Row(
        "S24",
        REFUSES,
        when=lambda s: s.speculative_use_block_verification and algorithm(s) not in ("EAGLE", "EAGLE3", "DFLASH", "DSPARK"),
        versions="0.5.23..",
        says=lambda s: (
            f"speculative-use-block-verification needs EAGLE, EAGLE3, DFLASH or DSPARK"
            f"{', not ' + s.speculative_algorithm if speculation(s) else ''}. Leave it out."
        ),
        at="speculative-use-block-verification",
        fix=(Set("speculative-use-block-verification", None),),
        source=_SOURCE,
        order=12,
        bad="--speculative-algorithm NGRAM --speculative-use-block-verification @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:speculative-use-block-verification",
    ),
    Row(
        "S23",
        REFUSES,
        when=lambda s: _sampling(s) and algorithm(s) == "STANDALONE",
        versions="0.5.15..",
        says="speculative-use-rejection-sampling needs EAGLE or EAGLE3, not STANDALONE. Leave it out.",
        at="speculative-use-rejection-sampling",
        fix=(Set("speculative-use-rejection-sampling", None),),
        source=_SOURCE,
        order=48,
    ),
    Row(
        "S23",
        REFUSES,
        when=lambda s: _sampling(s) and algorithm(s) != "STANDALONE" and s.speculative_eagle_topk != 1,
        versions="0.5.15..",
        says="speculative-use-rejection-sampling needs a chain, but speculative-eagle-topk is {speculative_eagle_topk}. "
        "Use top-k 1.",
        at="speculative-use-rejection-sampling",
        fix=(Set("speculative-eagle-topk", 1), Set("speculative-use-rejection-sampling", None)),
        source=_SOURCE,
        order=49,
        bad="--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 2 --speculative-num-draft-tokens 8 "
        "--speculative-use-rejection-sampling --tp-size 8 @ 0.5.23 8x-h200 deepseek-v3",
        good="--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
    ),
    Row(
        "S23",
        REFUSES,
        when=lambda s: (
            _sampling(s) and (s.speculative_accept_threshold_single != 1.0 or s.speculative_accept_threshold_acc != 1.0)
        ),
        versions="0.5.15..",
        says="speculative-use-rejection-sampling ignores accept thresholds and refuses values other than 1. Leave them out.",
        at="speculative-accept-threshold-single",
        fix=(
            Set("speculative-accept-threshold-single", None),
            Set("speculative-accept-threshold-acc", None),
            Set("speculative-use-rejection-sampling", None),
        ),
        source=_SOURCE,
        order=50,
    ),
    Row(
        "S23",
        REFUSES,
        when=lambda s: _sampling(s) and s.enable_deterministic_inference and not at_least(s, "0.5.23"),
        versions="0.5.15..0.5.20",
        says="speculative-use-rejection-sampling draws from a generator that is not deterministic. Leave it out.",
        at="speculative-use-rejection-sampling",
        fix=(Set("speculative-use-rejection-sampling", None),),
        source=_SOURCE,
        order=51,
    ),
)
