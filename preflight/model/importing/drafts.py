"""Draft models of the EAGLE family: one or a few layers beside the target.

Sources: SGLang 0.5.9 srt/models/{llama_eagle,llama_eagle3}.py; vLLM 0.33.0 model_executor/models (the same names).
"""

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import Parts

AUXILIARY_STATES = 3  # hidden states of the target that EAGLE-3 reads


def is_draft(text: Fields) -> bool:
    """Whether the configuration describes an EAGLE or EAGLE-3 draft."""
    return any("eagle" in name.lower() for name in text.texts("architectures"))


def is_eagle3(text: Fields) -> bool:
    """Whether the draft's attention reads the embedding beside the hidden state."""
    return any("eagle3" in name.lower() for name in text.texts("architectures"))


def finish(parts: Parts, text: Fields, hidden: int) -> None:
    """The fusing projection and the vocabulary; EAGLE takes its head from the target, EAGLE-3 has its own."""
    vocab = text.need("vocab_size")
    parts.plain("embedding", vocab * hidden, "embedding", units=vocab)
    if not is_eagle3(text):
        parts.plain("draft fc", 2 * hidden * hidden)
        return
    target = text.integer("target_hidden_size") or hidden
    parts.plain("draft fc", AUXILIARY_STATES * target * hidden)
    rows = text.integer("draft_vocab_size") or vocab
    parts.plain("lm_head", rows * hidden, "head", stage="last", units=rows)
