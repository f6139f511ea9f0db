"""Defaults that nothing else hangs on. Read in srt/server_args.py, 0.4.6.post5 to 0.5.23."""

from __future__ import annotations

from preflight.engines.sglang.facts import multimodal
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row

_WHOLE_PROMPTS = frozenset(
    {
        "Grok1VForCausalLM",
        "Grok1AForCausalLM",
        "LlavaLlamaForCausalLM",
        "MllamaForConditionalGeneration",
        "MossVLForConditionalGeneration",
        "CLIPModel",
    }
)
"""Multimodal architectures whose prompts cannot be cut into chunks."""

ROWS = (
    Row(
        "X-sampling",
        SETS,
        when=lambda s: s.sampling_backend is None,
        sets="sampling-backend",
        value="flashinfer",
        source="srt/server_args.py, sampling handler",
        step="sampling",
    ),
    Row(
        "X-grammar",
        SETS,
        when=lambda s: s.grammar_backend is None,
        sets="grammar-backend",
        value="xgrammar",
        source="srt/server_args.py, grammar handler",
        step="grammar",
    ),
    Row(
        "W1-auto",
        SETS,
        when=lambda s: s.mamba_radix_cache_strategy == "auto",
        versions="0.5.8..0.5.12",
        sets="mamba-radix-cache-strategy",
        value="no_buffer",
        source="srt/server_args.py _handle_missing_default_values",
        step="early",
    ),
    Row(
        "E19-always",
        SETS,
        when=lambda s: s.ep_dispatch_algorithm is None and s.init_expert_location is not None,
        versions="0.4.10..0.5.5",
        sets="ep-dispatch-algorithm",
        value="static",
        source="srt/server_args.py _handle_eplb_and_dispatch",
        step="eplb",
    ),
    Row(
        "C12",
        SETS,
        when=lambda s: s.model.architecture in _WHOLE_PROMPTS and multimodal(s),
        versions="0.5.18..",
        sets="chunked-prefill-size",
        value=-1,
        origin=MODEL_OVERRIDE,
        source="srt/arg_groups/model_hook.py handle_model_capability_adjustments",
        step="capability",
    ),
)
