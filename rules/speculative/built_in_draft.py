"""The draft is already in the checkpoint.

## What it does
Finds `speculative-draft-model-path` for models whose checkpoint brings its own prediction layers.

## Why
DeepSeek V3 and its kin, GLM-4 MoE, Bailing and others are trained with multi-token-prediction layers. SGLang takes the
draft from the target's own checkpoint when no path is given, and warns when one is. Another path loads another draft,
which has to fit the target's hidden states; the same path only has to be kept in step by hand.

## Fix
Unsafe: the path given may be a better draft.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.speculative import built_in_draft, eagle
from preflight.engines.steps import WARNS, Row, Set, Topic

TOPIC = Topic("SPC007", "needless-draft-model", "sglang", "speculative")

_SILENT = ("MistralLarge3ForCausalLM", "PixtralForConditionalGeneration")

ROWS = (
    Row(
        "S10",
        WARNS,
        when=lambda s: (
            eagle(s)
            and s.given("speculative-draft-model-path")
            and s.speculative_algorithm == "EAGLE"
            and built_in_draft(s)
            and s.model.architecture not in _SILENT
        ),
        says="This model brings its own draft layers, so SGLang does not need speculative-draft-model-path. "
        "Leave it out unless the draft is another one on purpose.",
        at="speculative-draft-model-path",
        fix=(Set("speculative-draft-model-path", None),),
        source="srt/arg_groups/speculative_hook.py",
        order=33,
        bad="--speculative-algorithm EAGLE --speculative-draft-model-path deepseek-ai/DeepSeek-V3 --tp-size 8 "
        "@ 0.5.9 8x-h200 deepseek-v3",
        good="--no:speculative-draft-model-path",
    ),
)
