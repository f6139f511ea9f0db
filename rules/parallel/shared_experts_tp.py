"""shared-experts-tp-size is for Kimi-K3 with an expert all-to-all.

## What it does
Checks shared-experts-tp-size against the attention ranks, the model and moe-a2a-backend.

## Why
It spreads the shared experts over part of the attention ranks. Only Kimi-K3 does so, only where experts are exchanged
by an all-to-all, and the size must divide the attention ranks.

## Source
sglang 0.5.23 srt/arg_groups/parallel_hook.py `handle_shared_experts_tp`.
"""

from preflight.engines.sglang.facts import dp_groups, splits
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("PAR016", "shared-experts-tp-size", "sglang", "shared-experts")
_SOURCE = "srt/arg_groups/parallel_hook.py handle_shared_experts_tp"
_BACKENDS = ("deepep", "megamoe", "mooncake", "ascend_fuseep", "mori")


def _attention_ranks(s: State) -> int:
    return max(1, int(s.tp_size) // (dp_groups(s) * int(s.attn_cp_size or 1)))


ROWS = (
    Row(
        "P36",
        REFUSES,
        when=lambda s: (
            s.shared_experts_tp_size is not None
            and (s.shared_experts_tp_size < 1 or not splits(_attention_ranks(s), s.shared_experts_tp_size))
        ),
        versions="0.5.23..",
        says=lambda s: (
            f"shared-experts-tp-size {s.shared_experts_tp_size} does not divide the {_attention_ranks(s)} attention ranks. "
            "Use a divisor."
        ),
        at="shared-experts-tp-size",
        fix=(Set("shared-experts-tp-size", None),),
        source=_SOURCE,
        bad="--tp-size 8 --shared-experts-tp-size 3 --moe-a2a-backend deepep @ 0.5.23 8x-h200 deepseek-v3",
        good="--no:shared-experts-tp-size",
    ),
    Row(
        "P36-model",
        REFUSES,
        when=lambda s: s.shared_experts_tp_size is not None and s.model.architecture != "KimiK3ForConditionalGeneration",
        versions="0.5.23..",
        says="shared-experts-tp-size works with Kimi-K3 only; this model is {model__architecture}. Take it out.",
        at="shared-experts-tp-size",
        fix=(Set("shared-experts-tp-size", None),),
        source=_SOURCE,
        bad="--tp-size 8 --shared-experts-tp-size 2 --moe-a2a-backend deepep @ 0.5.23 8x-h200 deepseek-v3",
        good="--no:shared-experts-tp-size",
    ),
    Row(
        "P36-backend",
        REFUSES,
        when=lambda s: s.shared_experts_tp_size is not None and s.moe_a2a_backend not in _BACKENDS,
        versions="0.5.23..",
        says="shared-experts-tp-size needs an expert all-to-all such as deepep; moe-a2a-backend is {moe_a2a_backend}.",
        at="moe-a2a-backend",
        fix=(Set("shared-experts-tp-size", None),),
        source=_SOURCE,
    ),
)
