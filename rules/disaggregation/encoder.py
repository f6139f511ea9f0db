"""The encoder roles contradict the launch.

## What it does
Finds `encoder-only`, `language-only` and `language-model-only` combinations that SGLang refuses.

## Why
A multimodal model can be split into encoder servers and a language server. A server has one of the two roles, not both and no PD
role beside encoder-only; up to 0.5.12 the language server must be told where the encoders are; and only families
whose encoder can be split take part (checked since 0.5.10).

## Fix
Unsafe: the role has to be chosen.

## Source
sglang 0.5.8 to 0.5.12 srt/server_args.py; 0.5.23 srt/arg_groups/pd_disaggregation_hook.py, model_hook.py.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("PAR043", "encoder-roles", "sglang", "encoder-disaggregation")

_SOURCE = "srt/arg_groups/pd_disaggregation_hook.py"
_SPLIT_0_5_10 = frozenset(
    {
        "Qwen2VLForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
        "Qwen3OmniMoeForConditionalGeneration",
        "Qwen2AudioForConditionalGeneration",
        "Qwen2_5OmniForConditionalGeneration",
    }
)
_SPLIT_0_5_12 = _SPLIT_0_5_10 | {
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration",
    "KimiVLForConditionalGeneration",
    "KimiK25ForConditionalGeneration",
}
_SPLIT_0_5_15 = _SPLIT_0_5_12 | {
    "Dots3NoteForCausalLM",
    "KimiK3ForConditionalGeneration",
    "MiMoV2ForCausalLM",
    "Glm5NextForConditionalGeneration",
    "MiniMaxM3SparseForConditionalGeneration",
    "MuseSparkForConditionalGeneration",
}


def _cannot_be_split(s: State) -> bool:
    if not (s.encoder_only or s.language_only):
        return False
    split = _SPLIT_0_5_15 if at_least(s, "0.5.15") else _SPLIT_0_5_12 if at_least(s, "0.5.12") else _SPLIT_0_5_10
    return s.model.architecture not in split


ROWS = (
    Row(
        "D18",
        REFUSES,
        when=lambda s: s.enable_prefix_mm_cache and not s.encoder_only,
        versions="0.5.8..",
        says="enable-prefix-mm-cache needs encoder-only. Leave it out.",
        at="enable-prefix-mm-cache",
        fix=(Set("enable-prefix-mm-cache", None),),
        source=_SOURCE,
        order=10,
        bad="--enable-prefix-mm-cache @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:enable-prefix-mm-cache",
    ),
    Row(
        "D17",
        REFUSES,
        when=lambda s: s.encoder_only and s.language_only,
        versions="0.5.8..",
        says="encoder-only and language-only exclude each other. Keep one.",
        at="encoder-only",
        fix=(Set("encoder-only", None), Set("language-only", None)),
        source=_SOURCE,
        order=12,
    ),
    Row(
        "D17",
        REFUSES,
        when=lambda s: s.encoder_only and s.disaggregation_mode != "null",
        versions="0.5.8..",
        says="encoder-only does not go with disaggregation-mode {disaggregation_mode}. Keep one.",
        at="encoder-only",
        fix=(Set("disaggregation-mode", None), Set("encoder-only", None)),
        source=_SOURCE,
        order=13,
        bad="--encoder-only --disaggregation-mode prefill @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:disaggregation-mode",
    ),
    Row(
        "D16",
        REFUSES,
        when=lambda s: s.language_only and not s.encoder_urls,
        versions="0.5.8..0.5.12",
        says="language-only needs encoder-urls. Give the address of an encoder server.",
        at="language-only",
        fix=(Set("language-only", None),),
        source="srt/server_args.py",
        order=14,
        bad="--language-only @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--encoder-urls http://encoder:30000",
    ),
    Row(
        "D19",
        REFUSES,
        when=_cannot_be_split,
        versions="0.5.10..",
        says="The encoder of this model cannot be split off. Leave encoder-only and language-only out.",
        at="language-only",
        fix=(Set("language-only", None), Set("encoder-only", None)),
        source=_SOURCE,
        order=20,
        bad="--language-only --encoder-urls http://encoder:30000 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:language-only",
    ),
)
