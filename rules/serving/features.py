"""A serving feature does not go with the rest of the launch.

## What it does
Finds watermarks, weight caches, response stores and text-only modes in launches that cannot serve them.

## Why
A watermark is drawn while sampling, so it excludes PD roles, own logit processors and algorithms that sample elsewhere. The
weight cache holds one model and no draft. A response store lives in one server. SGLang refuses each combination.

## Fix
Unsafe: leave the feature out, or what excludes it.

## Source
sglang 0.5.18 srt/server_args.py; 0.5.23 srt/arg_groups/validation_hook.py, model_path_hook.py, model_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least, speculation
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("FLG045", "feature-conflict", "sglang", "checks")


_TEXT_ONLY = {
    # release from which a model may drop its encoder
    "MuseGlimmerForConditionalGeneration": "0.5.18",
    "Cosmos3ForConditionalGeneration": "0.5.20",
    "Cosmos3EdgeForConditionalGeneration": "0.5.20",
    "DeepseekV4ForCausalLM": "0.5.23",
}


def _text_only_fault(s: State) -> str | None:
    for flag in ("encoder-only", "language-only", "enable-prefix-mm-cache", "mm-enable-dp-encoder"):
        if s.get(flag):
            return flag
    since = _TEXT_ONLY.get(s.model.architecture)
    if since is None or not at_least(s, since):
        return f"{s.model.architecture}"
    return None if s.disaggregation_mode == "null" else f"disaggregation-mode {s.disaggregation_mode}"


def _watermark_fault(s: State) -> str | None:
    if not s.enable_watermark:
        return None
    if s.enable_custom_logit_processor:
        return "enable-custom-logit-processor"
    if s.dllm_algorithm is not None:
        return "diffusion models"
    if s.disaggregation_mode != "null":
        return "PD disaggregation"
    if algorithm(s) not in (None, "NGRAM", "EAGLE", "EAGLE3"):
        return f"{algorithm(s)} speculation"
    return "speculative-use-rejection-sampling" if s.speculative_use_rejection_sampling else None


ROWS = (
    Row(
        "X10",
        REFUSES,
        when=lambda s: _watermark_fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"enable-watermark does not work with {_watermark_fault(s)}. Leave one of the two out.",
        at="enable-watermark",
        fix=(Set("enable-watermark", None),),
        source="srt/arg_groups/validation_hook.py",
        order=94,
        bad="--enable-watermark --disaggregation-mode prefill @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:disaggregation-mode",
    ),
    Row(
        "X9",
        REFUSES,
        when=lambda s: s.weight_cache_mode not in (None, "off", "none") and speculation(s),
        versions="0.5.18..",
        says="weight-cache-mode {weight_cache_mode} holds no draft, so it does not work with "
        "speculation. Leave one of the two out.",
        at="weight-cache-mode",
        fix=(Set("weight-cache-mode", None),),
        source="srt/arg_groups/model_path_hook.py",
        step="load-format",
    ),
    Row(
        "D20",
        REFUSES,
        when=lambda s: s.enable_response_store and s.disaggregation_mode != "null",
        versions="0.5.20..",
        says="enable-response-store does not work with disaggregation-mode {disaggregation_mode}. Leave it out.",
        at="enable-response-store",
        fix=(Set("enable-response-store", None),),
        source="srt/arg_groups/validation_hook.py",
        step="early",
        bad="--enable-response-store --disaggregation-mode prefill @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:disaggregation-mode",
    ),
    Row(
        "V5",
        REFUSES,
        when=lambda s: s.language_model_only and _text_only_fault(s) is not None,
        versions="0.5.18..",
        says=lambda s: f"language-model-only does not work with {_text_only_fault(s)}. Leave it out.",
        at="language-model-only",
        fix=(Set("language-model-only", None),),
        source="srt/arg_groups/model_hook.py handle_language_model_only",
        step="encoder-disaggregation",
        order=5,
        bad="--language-model-only @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:language-model-only",
    ),
)
