"""The number of draft tokens does not fit the chain.

## What it does
Finds `speculative-num-draft-tokens` that SGLang replaces.

## Why
With `speculative-eagle-topk` 1 the draft is a chain: the drafted tokens are the steps and the token that is already known,
so SGLang sets `speculative-num-draft-tokens` to `speculative-num-steps` + 1. DFLASH and DSPARK draft a block at once
and set steps and top-k to 1. A tree (top-k above 1) keeps the number.

## Fix
Safe for the number itself: it is what SGLang uses anyway.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import algorithm
from preflight.engines.sglang.speculative import chain_tokens_differ
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("SPC004", "draft-tokens-replaced", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"

ROWS = (
    Row(
        "S4",
        SETS,
        when=lambda s: s.given("speculative-num-draft-tokens") and chain_tokens_differ(s),
        sets="speculative-num-draft-tokens",
        value=lambda s: s.speculative_num_steps + 1,
        says="SGLang uses {speculative_num_draft_tokens} draft tokens here: with speculative-eagle-topk 1 they are "
        "speculative-num-steps ({speculative_num_steps}) + 1. Write that number, or more steps.",
        fix=(Set("speculative-num-draft-tokens", lambda s: s.speculative_num_steps + 1, SAFE),),
        source=_SOURCE,
        order=55,
        bad="--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 8 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--speculative-num-draft-tokens 4",
    ),
    Row(
        "S20",
        SETS,
        when=lambda s: algorithm(s) in ("DFLASH", "DSPARK") and s.given("speculative-num-steps"),
        versions="0.5.12..",
        sets="speculative-num-steps",
        value=1,
        says="speculative-num-steps becomes 1: {speculative_algorithm} drafts a block at once. Leave it out.",
        fix=(Set("speculative-num-steps", None, SAFE),),
        source=_SOURCE,
        order=30,
    ),
    Row(
        "S20",
        SETS,
        when=lambda s: algorithm(s) in ("DFLASH", "DSPARK") and s.given("speculative-eagle-topk"),
        versions="0.5.12..",
        sets="speculative-eagle-topk",
        value=1,
        says="speculative-eagle-topk becomes 1: {speculative_algorithm} drafts a block, not a tree. Leave it out.",
        fix=(Set("speculative-eagle-topk", None, SAFE),),
        source=_SOURCE,
        order=30,
    ),
)
