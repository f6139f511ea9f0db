"""The algorithm does not speculate under DP attention.

## What it does
Finds STANDALONE, NGRAM, DFLASH and DSPARK launches with DP attention that the algorithm does not support.

## Why
Under DP attention every replica verifies its own batch, and draft and target must agree on its shape over all ranks.
EAGLE and EAGLE3 do; STANDALONE and NGRAM never do. DFLASH does since 0.5.23 and DSPARK since 0.5.18, with the target's
vocabulary head divided among attention ranks (`enable-dp-lm-head`).

## Fix
Unsafe: another algorithm, or attention without replicas, is another server.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, attention_dp, dp_attention
from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("SPC006", "speculation-under-dp-attention", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"
_FIXES = (Set("speculative-algorithm", "EAGLE"), Set("enable-dp-attention", None))

ROWS = (
    Row(
        "S7",
        REFUSES,
        when=lambda s: algorithm(s) == "STANDALONE" and dp_attention(s),
        versions="0.5.2..",
        says="STANDALONE speculation does not work with DP attention. Use EAGLE or EAGLE3, or drop DP attention.",
        at="speculative-algorithm",
        fix=_FIXES,
        source=_SOURCE,
        order=26,
        bad="--speculative-algorithm STANDALONE --speculative-draft-model-path org/small --enable-dp-attention --dp-size 2 "
        "--tp-size 4 @ 0.5.9 8x-h200 qwen3-30b-a3b",
        good="--no:enable-dp-attention --no:dp-size",
    ),
    Row(
        "S31",
        REFUSES,
        when=lambda s: s.speculative_skip_dp_mlp_sync and algorithm(s) != "EAGLE",
        versions="0.5.12..0.5.20",
        says=lambda s: (
            f"speculative-skip-dp-mlp-sync needs speculative-algorithm EAGLE, not {algorithm(s) or 'none'}. Leave it out."
        ),
        at="speculative-skip-dp-mlp-sync",
        fix=(Set("speculative-skip-dp-mlp-sync", None),),
        source=_SOURCE,
        order=82,
        bad="--speculative-skip-dp-mlp-sync @ 0.5.18 8x-h100-80 llama-3.1-8b",
        good="--no:speculative-skip-dp-mlp-sync",
    ),
    Row(
        "S7",
        REFUSES,
        when=lambda s: algorithm(s) == "NGRAM" and dp_attention(s),
        versions="0.5.5..",
        says="NGRAM speculation does not work with DP attention. Use EAGLE or EAGLE3, or drop DP attention.",
        at="speculative-algorithm",
        fix=_FIXES,
        source=_SOURCE,
        order=78,
        bad="--speculative-algorithm NGRAM --enable-dp-attention --dp-size 8 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--speculative-algorithm EAGLE",
    ),
    Row(
        "S20",
        REFUSES,
        when=lambda s: algorithm(s) == "DFLASH" and dp_attention(s),
        versions="0.5.12..0.5.20",
        says="DFLASH does not work with DP attention before SGLang 0.5.23. Use EAGLE or EAGLE3, or drop DP attention.",
        at="speculative-algorithm",
        fix=_FIXES,
        source=_SOURCE,
        order=24,
    ),
    Row(
        "S20",
        REFUSES,
        when=lambda s: algorithm(s) == "DFLASH" and dp_attention(s) and not s.enable_dp_lm_head,
        versions="0.5.23..",
        says="DFLASH with DP attention needs enable-dp-lm-head. Add it.",
        at="speculative-algorithm",
        fix=(Set("enable-dp-lm-head", True),),
        source=_SOURCE,
        order=24,
    ),
    Row(
        "S20",
        REFUSES,
        when=lambda s: algorithm(s) == "DFLASH" and dp_attention(s) and (s.attn_cp_size or 1) != 1,
        versions="0.5.23..",
        says="DFLASH with DP attention does not work with attn-cp-size {attn_cp_size}. Use 1.",
        at="attn-cp-size",
        fix=(Set("attn-cp-size", 1),),
        source=_SOURCE,
        order=24,
    ),
    Row(
        "S21",
        REFUSES,
        when=lambda s: algorithm(s) == "DSPARK" and attention_dp(s) > 1 and dp_attention(s) and not s.enable_dp_lm_head,
        versions="0.5.18..",
        says="DSPARK with DP attention needs enable-dp-lm-head. Add it.",
        at="speculative-algorithm",
        fix=(Set("enable-dp-lm-head", True),),
        source=_SOURCE,
        order=24,
    ),
    Row(
        "S21",
        REFUSES,
        when=lambda s: (
            algorithm(s) == "DSPARK"
            and dp_attention(s)
            and attention_dp(s) > 1
            and s.moe_a2a_backend not in ("none", "megamoe", "mori")
        ),
        versions="0.5.18..",
        says="DSPARK with DP attention does not work with the all-to-all backend {moe_a2a_backend}. Use none or megamoe.",
        at="moe-a2a-backend",
        fix=(Set("moe-a2a-backend", None),),
        source=_SOURCE,
        order=24,
    ),
)
