"""Drafting blocks needs a draft model and a matching block.

## What it does
Finds DFLASH and DSPARK launches without a draft, with pipeline stages, or with a block that does not match the number of
draft tokens.

## Why
Both draft a whole block at once with a model of their own. DFLASH verifies one block (`speculative-dflash-block-size` =
`speculative-num-draft-tokens`), DSPARK a block and one more token (gamma + 1). Some DSPARK targets bring the draft in their
checkpoint; that cannot be seen here, so its absence is an error only where the model is known to bring none.

## Fix
Unsafe: the draft has to be chosen.

## Source
sglang 0.5.12.post1 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC016", "block-draft", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"


def _pipelined(s: State) -> bool:
    name = algorithm(s)
    if name == "DFLASH":
        return bool(s.pp_size != 1)
    return name == "DSPARK" and bool(s.pp_size != 1) and not (at_least(s, "0.5.23") and s.disaggregation_mode == "prefill")


def _undrafted(s: State) -> bool:
    """A DSPARK target may bring its draft; only DeepSeek-V4 checkpoints are known to."""
    name = algorithm(s)
    if name not in ("DFLASH", "DSPARK") or s.speculative_draft_model_path is not None:
        return False
    return name == "DFLASH" or s.model.architecture != "DeepseekV4ForCausalLM"


def _mismatch(s: State) -> int | None:
    """The number of draft tokens that the block asks for, where the launch gives another."""
    name = algorithm(s)
    if name == "DFLASH":
        block, wanted = s.speculative_dflash_block_size, s.speculative_dflash_block_size
    elif name == "DSPARK":
        block = s.speculative_dspark_block_size
        wanted = None if block is None else block + 1
    else:
        return None
    tokens = s.speculative_num_draft_tokens
    return wanted if block is not None and block > 0 and tokens is not None and tokens != wanted else None


ROWS = (
    Row(
        "S20",
        REFUSES,
        when=_pipelined,
        versions="0.5.12..",
        says="{speculative_algorithm} drafts in one pipeline stage, but pp-size is {pp_size}. Use pp-size 1.",
        at="pp-size",
        fix=(Set("pp-size", 1),),
        source=_SOURCE,
        order=25,
        bad="--speculative-algorithm DFLASH --speculative-draft-model-path org/draft --pp-size 2 @ "
        "0.5.23 8x-h100-80 llama-3.1-8b",
        good="--pp-size 1",
    ),
    Row(
        "S20",
        REFUSES,
        when=_undrafted,
        versions="0.5.12..",
        says="{speculative_algorithm} needs speculative-draft-model-path. Give the draft that belongs to this model.",
        at="speculative-algorithm",
        source=_SOURCE,
        order=29,
        bad="--speculative-algorithm DFLASH @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--speculative-draft-model-path org/draft",
    ),
    Row(
        "S20",
        REFUSES,
        when=lambda s: (
            (algorithm(s) == "DFLASH" and (s.speculative_dflash_block_size or 1) <= 0)
            or (algorithm(s) == "DSPARK" and s.speculative_dspark_block_size is not None and s.speculative_dspark_block_size <= 0)
        ),
        versions="0.5.12..",
        says="A block must hold at least one token. Leave the block size out for the draft's own.",
        at="speculative-algorithm",
        fix=(Set("speculative-dflash-block-size", None), Set("speculative-dspark-block-size", None)),
        source=_SOURCE,
        order=29,
    ),
    Row(
        "S20",
        REFUSES,
        when=lambda s: _mismatch(s) is not None,
        versions="0.5.12..",
        says=lambda s: (
            f"speculative-num-draft-tokens {s.speculative_num_draft_tokens} does not match the block "
            f"of {s.speculative_algorithm}, "
            f"which takes {_mismatch(s)}. Leave it out."
        ),
        at="speculative-num-draft-tokens",
        fix=(Set("speculative-num-draft-tokens", _mismatch, SAFE),),
        source=_SOURCE,
        order=29,
    ),
    Row(
        "S21",
        REFUSES,
        when=lambda s: (
            algorithm(s) == "DSPARK" and s.speculative_num_draft_tokens is not None and s.speculative_num_draft_tokens < 2
        ),
        versions="0.5.18..",
        says="DSPARK verifies at least 2 tokens, but speculative-num-draft-tokens is "
        "{speculative_num_draft_tokens}. Leave it out.",
        at="speculative-num-draft-tokens",
        fix=(Set("speculative-num-draft-tokens", None),),
        source=_SOURCE,
        order=36,
    ),
)
