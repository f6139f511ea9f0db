"""context-length is above what the model was made for.

## What it does
Compares context-length with the context that SGLang derives from the model's configuration.

## Why
SGLang refuses a longer context than the configuration's, as positions beyond it were never trained, unless
SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1 is set; then it warns and answers may be wrong or not numbers at all. A
model whose rope scaling is meant to be extended gets it by json-model-override-args.

## Source
sglang srt/configs/model_config.py `_derive_context_length` and its predecessors, 0.4.6.post5 to 0.5.23.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("CAP020", "context-above-model", "sglang", "model-config")
_ALLOWS = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"


def _allowed(s: State) -> bool:
    """Up to 0.4.10 the variable is on unless it is set to false."""
    return s.flag(_ALLOWS, default=not at_least(s, "0.5"))


def _longer(s: State) -> bool:
    if s.context_length is None or s.json_model_override_args not in (None, "{}"):
        return False
    return bool(s.context_length > s.model.context_length)


_SAYS = "context-length {context_length} is above the model's {model__context_length} tokens"

ROWS = (
    Row(
        "C3",
        REFUSES,
        when=lambda s: _longer(s) and not _allowed(s),
        says=_SAYS + ". Lower it, or set " + _ALLOWS + "=1 and test the answers.",
        at="context-length",
        fix=(Set("context-length", lambda s: s.model.context_length),),
        source="srt/configs/model_config.py _derive_context_length",
        bad="--context-length 200000 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--context-length 131072",
    ),
    Row(
        "C3-allowed",
        WARNS,
        when=lambda s: _longer(s) and _allowed(s),
        says=_SAYS
        + ", which "
        + _ALLOWS
        + " lets through: answers beyond it may be wrong. Use a model with rope scaling for it.",
        at="context-length",
        fix=(Set("context-length", lambda s: s.model.context_length),),
        source="srt/configs/model_config.py _derive_context_length",
        bad="--context-length 200000 @ 0.5.9 8x-h100-80 llama-3.1-8b SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1",
        good="--context-length 131072",
    ),
)
