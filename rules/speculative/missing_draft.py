"""Speculative decoding has no draft model.

## What it does
Finds EAGLE, EAGLE3 and STANDALONE launches without `speculative-draft-model-path`, for models that bring no draft.

## Why
SGLang's argument code accepts them: only when the draft worker loads its weights, after the target's are loaded, does it
find that there is no path. Models with prediction layers of their own (DeepSeek V3, GLM-4 MoE and others) need none for
EAGLE.

## Fix
None: the draft has to be chosen. NGRAM speculates without one.

## Source
sglang 0.5.9 srt/managers/tp_worker.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm
from preflight.engines.sglang.speculative import built_in_draft
from preflight.engines.steps import DIES, Row, State, Topic

TOPIC = Topic("SPC019", "missing-draft-model", "sglang", "load")

_PREDICTING = (
    "Qwen3_5",
    "Qwen3Next",
    "Qwen3Moe",
    "InternS2",
    "MiMo",
    "NemotronH",
    "Ernie4_5",
    "Longcat",
    "Exaone",
    "Step3p",
    "HYV3",
    "GlmOcr",
)
"""Beginnings of the architectures that the engine turns into their own draft (srt/configs/model_config.py)."""


def _undrafted(s: State) -> bool:
    if s.speculative_algorithm is None or s.speculative_draft_model_path is not None:
        return False
    if algorithm(s) not in ("EAGLE", "EAGLE3", "STANDALONE") or built_in_draft(s):
        return False
    return algorithm(s) != "EAGLE" or not _brings_layers(s)


def _brings_layers(s: State) -> bool:
    """Without a path the draft worker loads the target's own checkpoint, which serves where it has prediction layers."""
    return bool(s.model.known("mtp_layers")) or str(s.model.architecture).startswith(_PREDICTING)


ROWS = (
    Row(
        "S10",
        DIES,
        when=_undrafted,
        says="{speculative_algorithm} has no draft: speculative-draft-model-path is missing, and this model brings none. "
        "Give the draft's path, or use NGRAM.",
        at="speculative-algorithm",
        stage="load",
        source="srt/managers/tp_worker.py",
        bad="--speculative-algorithm EAGLE3 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--speculative-draft-model-path org/draft",
    ),
)
