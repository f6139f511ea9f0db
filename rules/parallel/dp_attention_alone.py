"""DP attention with one replica does nothing.

## What it does
Reports enable-dp-attention where dp-size is 1, and enable-dp-lm-head where there is no DP attention to go with it.

## Why
With dp-size 1 there is one attention group, so SGLang turns the flag off again, in silence. Up to 0.5.20 that happens
after the automatic memory fraction was chosen, so the bare flag still costs its memory: on eight H100 with Llama 3.1
8B the fraction falls from 0.818 to 0.790 (0.5.9), and from 0.5.10 to 0.5.15 the prefill graph is lost as well.

enable-dp-lm-head spreads the LM head over the attention groups only, so it refuses to start without them; with
dp-size 1 it is dropped in silence first.

## Source
sglang srt/server_args.py `_handle_data_parallelism`, 0.5.2 to 0.5.18; srt/arg_groups/overrides.py, 0.5.15 to 0.5.23.
Fractions: the engine's own argument code.
"""

from preflight.engines.sglang.facts import at_least, attention_dp
from preflight.engines.steps import ENGINE_DEFAULT, REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR003", "dp-attention-without-replicas", "sglang", "data-parallel")


def _single(s: State) -> bool:
    if at_least(s, "0.5.23"):
        return bool(s.dp_size == 1 and attention_dp(s) == 1)
    return bool(s.dp_size == 1)


ROWS = (
    Row(
        "P4",
        SETS,
        when=lambda s: s.enable_dp_attention and _single(s),
        versions="0.5.2..0.5.20",
        sets="enable-dp-attention",
        value=False,
        origin=ENGINE_DEFAULT,
        says="enable-dp-attention does nothing with dp-size 1, and its memory reserve is taken all the same. Set dp-size, or "
        "take "
        "the flag out.",
        fix=(Set("enable-dp-attention", None),),
        source="srt/server_args.py _handle_data_parallelism",
        bad="--tp-size 8 --enable-dp-attention @ 0.5.9 8x-h200 deepseek-v3",
        good="--dp-size 8",
        order=30,
    ),
    Row(
        "P5-single",
        SETS,
        when=lambda s: s.enable_dp_lm_head and _single(s),
        versions="0.5.5..",
        sets="enable-dp-lm-head",
        value=False,
        says="enable-dp-lm-head does nothing with one data-parallel rank: SGLang turns it off. Turn on DP attention, or take the "
        "flag out.",
        fix=(Set("enable-dp-lm-head", None),),
        source="srt/server_args.py _handle_data_parallelism",
        bad="--tp-size 8 --enable-dp-lm-head @ 0.5.9 8x-h200 deepseek-v3",
        good="--dp-size 8 --enable-dp-attention",
        order=31,
    ),
    Row(
        "P5",
        REFUSES,
        when=lambda s: s.enable_dp_lm_head and not (attention_dp(s) > 1 if at_least(s, "0.5.23") else s.enable_dp_attention),
        says="enable-dp-lm-head needs DP attention. Turn DP attention on, or take the flag out.",
        at="enable-dp-lm-head",
        fix=(Set("enable-dp-lm-head", None),),
        source="srt/server_args.py _handle_data_parallelism",
        bad="--tp-size 8 --dp-size 2 --enable-dp-lm-head @ 0.5.9 8x-h200 deepseek-v3",
        good="--enable-dp-attention",
        order=80,
    ),
)
