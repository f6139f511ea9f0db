"""No such speculative algorithm.

## What it does
Finds names that the release does not know, since they are free text (0.5.12), and algorithms that a model does not
support.

## Why
Up to 0.5.10 the parser lists the algorithms. From 0.5.12 on any text parses, in any case, and SGLang stops later when
neither it nor a plugin registered the name. DeepSeek-V4 drafts a chain with EAGLE or a block with DSPARK; its check runs
before aliases are resolved and before defaults, so NEXTN, and EAGLE without `speculative-eagle-topk 1`, are refused.

## Fix
Unsafe: the nearest name.

## Source
sglang 0.5.12 to 0.5.23 srt/speculative/spec_info.py; 0.5.23 srt/arg_groups/deepseek_v4_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC011", "unknown-speculative-algorithm", "sglang", "speculative")

_NAMES = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM", "DFLASH", "FROZEN_KV_MTP", "NONE")


def names(s: State) -> tuple[str, ...]:
    more = ("DSPARK",) if at_least(s, "0.5.18") else ()
    return (*_NAMES, *more, *(("UNO",) if at_least(s, "0.5.20") else ()))


def _nearest(s: State) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(str(algorithm(s)), names(s), 1)), None)


ROWS = (
    Row(
        "S31",
        REFUSES,
        when=lambda s: s.speculative_algorithm is not None and algorithm(s) not in names(s),
        versions="0.5.12..",
        says=lambda s: (
            f"{s.speculative_algorithm} is no speculative algorithm of this release. Use {_nearest(s) or 'EAGLE or EAGLE3'}."
        ),
        at="speculative-algorithm",
        fix=(Set("speculative-algorithm", _nearest),),
        source="srt/speculative/spec_info.py",
        order=9,
        bad="--speculative-algorithm EAGEL3 --speculative-draft-model-path org/draft @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--speculative-algorithm EAGLE3",
    ),
    Row(
        "S32",
        REFUSES,
        when=lambda s: (
            s.speculative_algorithm is not None
            and s.model.architecture == "DeepseekV4ForCausalLM"
            and s.speculative_algorithm not in (("EAGLE", "DSPARK") if at_least(s, "0.5.18") else ("EAGLE",))
        ),
        versions="0.5.12..",
        says="DeepSeek-V4 does not speculate with {speculative_algorithm}. Use EAGLE.",
        at="speculative-algorithm",
        fix=(Set("speculative-algorithm", "EAGLE"),),
        source="srt/arg_groups/deepseek_v4_hook.py",
        step="model",
        order=30,
    ),
    Row(
        "S32",
        REFUSES,
        when=lambda s: (
            s.speculative_algorithm == "EAGLE"
            and s.model.architecture == "DeepseekV4ForCausalLM"
            and s.speculative_eagle_topk != 1
        ),
        versions="0.5.12..",
        says="DeepSeek-V4 needs speculative-eagle-topk 1, given together with speculative-num-steps. Add them.",
        at="speculative-algorithm",
        fix=(Set("speculative-eagle-topk", 1),),
        source="srt/arg_groups/deepseek_v4_hook.py",
        step="model",
        order=31,
    ),
)
