"""The external corpus of NGRAM has no room.

## What it does
Finds budgets of `speculative-ngram-external-corpus-path` that SGLang refuses.

## Why
The tokens that a suffix automaton over an external corpus proposes are part of the draft. So its budget must be positive
and leave one token of `speculative-num-draft-tokens` (12 by default) to the known one. Without a corpus path neither is
tested.

## Fix
Unsafe: a budget is a choice.

## Source
sglang 0.5.12.post1 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC012", "ngram-corpus-budget", "sglang", "speculative")


def _corpus(s: State) -> bool:
    return algorithm(s) == "NGRAM" and s.speculative_ngram_external_corpus_path is not None


def _at_most(number: int | None, limit: int | None) -> bool:
    return number is not None and limit is not None and number <= limit


ROWS = (
    Row(
        "S16",
        REFUSES,
        when=lambda s: _corpus(s) and _at_most(s.speculative_ngram_external_sam_budget, 0),
        versions="0.5.12..",
        says="speculative-ngram-external-sam-budget {speculative_ngram_external_sam_budget} drafts nothing from the corpus. "
        "Use a number from 1 to speculative-num-draft-tokens - 1.",
        at="speculative-ngram-external-corpus-path",
        fix=(Set("speculative-ngram-external-sam-budget", lambda s: (s.speculative_num_draft_tokens or 12) - 1),),
        source="srt/arg_groups/speculative_hook.py",
        order=72,
        bad="--speculative-algorithm NGRAM --speculative-ngram-external-corpus-path corpus.jsonl "
        "--speculative-ngram-external-sam-budget 0 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--speculative-ngram-external-sam-budget 8",
    ),
    Row(
        "S16",
        REFUSES,
        when=lambda s: _corpus(s) and _at_most(s.speculative_ngram_external_corpus_max_tokens, 0),
        versions="0.5.12..",
        says="speculative-ngram-external-corpus-max-tokens must be above 0. Leave it out for the default.",
        at="speculative-ngram-external-corpus-max-tokens",
        fix=(Set("speculative-ngram-external-corpus-max-tokens", None),),
        source="srt/arg_groups/speculative_hook.py",
        order=73,
    ),
    Row(
        "S16",
        REFUSES,
        when=lambda s: _corpus(s) and _at_most(s.speculative_num_draft_tokens, s.speculative_ngram_external_sam_budget),
        versions="0.5.12..",
        says="speculative-ngram-external-sam-budget {speculative_ngram_external_sam_budget} leaves no room in "
        "{speculative_num_draft_tokens} draft tokens. Use at most one less than those.",
        at="speculative-ngram-external-sam-budget",
        fix=(Set("speculative-ngram-external-sam-budget", lambda s: (s.speculative_num_draft_tokens or 12) - 1),),
        source="srt/arg_groups/speculative_hook.py",
        order=74,
    ),
)
