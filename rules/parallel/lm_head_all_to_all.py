"""The LM head's all-to-all needs every rank to be an attention group of its own.

## What it does
Checks enable-tp-lm-head-all-to-all against attention groups, context parallelism and enable-dp-lm-head.

## Why
With it the head stays sharded over all ranks while each rank decodes requests of its own, so tp-size must equal the
number of attention groups. On a decode server where that holds SGLang turns it on by itself.

## Source
sglang 0.5.18 to 0.5.23 srt/arg_groups/overrides.py `_tp_lm_head_all_to_all_default` and `_dp_lm_head_validation`.
"""

from preflight.engines.sglang.facts import dp_groups
from preflight.engines.steps import REFUSES, SETS, Row, Set, Topic

TOPIC = Topic("PAR015", "lm-head-all-to-all", "sglang", "data-parallel")
_SOURCE = "srt/arg_groups/overrides.py _dp_lm_head_validation"

ROWS = (
    Row(
        "P34-default",
        SETS,
        when=lambda s: s.enable_tp_lm_head_all_to_all is None,
        versions="0.5.18..",
        sets="enable-tp-lm-head-all-to-all",
        value=lambda s: (
            s.disaggregation_mode == "decode"
            and dp_groups(s) > 1
            and s.tp_size == dp_groups(s)
            and s.attn_cp_size == 1
            and not s.enable_dp_lm_head
        ),
        source=_SOURCE,
        order=70,
    ),
    Row(
        "P34",
        REFUSES,
        when=lambda s: (
            bool(s.enable_tp_lm_head_all_to_all)
            and (dp_groups(s) <= 1 or s.enable_dp_lm_head or s.tp_size != dp_groups(s) or s.attn_cp_size != 1)
        ),
        versions="0.5.18..",
        says=lambda s: (
            f"enable-tp-lm-head-all-to-all needs as many attention groups as tp-size {s.tp_size} (here {dp_groups(s)}), no "
            "context parallelism and no enable-dp-lm-head."
        ),
        at="enable-tp-lm-head-all-to-all",
        fix=(Set("enable-tp-lm-head-all-to-all", None),),
        source=_SOURCE,
        bad="--tp-size 8 --attn-dp-size 4 --enable-tp-lm-head-all-to-all @ 0.5.23 8x-h200 deepseek-v3",
        good="--attn-dp-size 8",
        order=81,
    ),
)
