"""Which layer of a model is what, from the several ways in which configurations say it.

Sources: Hugging Face configuration classes of the families named; SGLang 0.5.23 srt/configs.
"""

from preflight.model.importing.fields import Fields

FULL, SLIDING, CHUNKED, LINEAR, BOTH, NONE = "full", "sliding", "chunked", "linear", "both", "none"

# Words of `layer_types` and `layers_block_type`.
WORDS = {
    "full_attention": FULL,
    "attention": FULL,
    "full": FULL,
    "global": FULL,
    "deepseek_sparse_attention": FULL,
    "sparse": FULL,
    "minicpm4": FULL,
    "sliding_attention": SLIDING,
    "local": SLIDING,
    "sliding_window": SLIDING,
    "chunked_attention": CHUNKED,
    "linear_attention": LINEAR,
    "lightning": LINEAR,
    "lightning-attn": LINEAR,
    "kda": LINEAR,
    "mamba": LINEAR,
    "mamba2": LINEAR,
    "conv": LINEAR,
    "hybrid": BOTH,
    "moe": NONE,
    "mlp": NONE,
}
PATTERN = {"M": LINEAR, "*": FULL, "E": NONE, "-": NONE}  # hybrid_override_pattern

WHOLE_SLIDING = ("mistral", "mixtral")  # families in which a window, where set, holds for every layer


def attention_kinds(text: Fields, layers: int, model_type: str) -> tuple[str, ...] | None:
    """The attention of each layer; None where the configuration says it in words that are not known."""
    pattern = text.text("hybrid_override_pattern")
    if pattern is not None:
        kinds = tuple(PATTERN.get(letter, "") for letter in pattern)
        return kinds if len(kinds) == layers and all(kinds) else None
    for key in ("layer_types", "layers_block_type", "mixer_types"):
        words = text.texts(key)
        if words:
            kinds = tuple(WORDS.get(word, "") for word in words[:layers])
            return kinds if len(kinds) == layers and all(kinds) else None
    if model_type == "falcon_h1":
        return (BOTH,) * layers
    return listed_kinds(text, layers) or repeated_kinds(text, layers, model_type)


def listed_kinds(text: Fields, layers: int) -> tuple[str, ...] | None:
    """Layers named by lists of indices."""
    linear = text.table("linear_attn_config")
    full_layers = linear.integers("full_attn_layers")
    if full_layers is not None:  # counted from 1
        return tuple(FULL if layer + 1 in full_layers else LINEAR for layer in range(layers))
    for key, other in (("hybrid_layer_pattern", SLIDING), ("attn_type_list", None), ("full_attn_idxs", LINEAR)):
        values = text.integers(key)
        if values is None:
            continue
        if key == "full_attn_idxs":
            return tuple(FULL if layer in values else LINEAR for layer in range(layers))
        if len(values) >= layers:
            if other is None:  # 1 is softmax attention, 0 linear
                return tuple(FULL if value == 1 else LINEAR for value in values[:layers])
            return tuple(other if value == 1 else FULL for value in values[:layers])
    rope = text.integers("no_rope_layers")
    if text.integer("attention_chunk_size"):
        interval = text.integer("no_rope_layer_interval") or 4
        with_rope = rope if rope else tuple(0 if (layer + 1) % interval == 0 else 1 for layer in range(layers))
        return tuple(CHUNKED if layer < len(with_rope) and with_rope[layer] else FULL for layer in range(layers))
    return None


def repeated_kinds(text: Fields, layers: int, model_type: str) -> tuple[str, ...]:
    """Layers that repeat with a period, or are all alike."""
    interval = text.integer("full_attention_interval")
    if interval and text.integer("linear_num_value_heads"):
        return tuple(FULL if (layer + 1) % interval == 0 else LINEAR for layer in range(layers))
    group = text.integer("layer_group_size")
    if group and group > 1:
        last_whole = layers // group * group
        return tuple(FULL if (layer + 1) % group == 0 or layer >= last_whole else LINEAR for layer in range(layers))
    window = text.integer("sliding_window")
    period = text.integer("sliding_window_pattern", "_sliding_window_pattern")
    if period is None and model_type.startswith(("gemma3", "gemma2")):
        period = 2 if model_type.startswith("gemma2") else 6
    if window and period:
        return tuple(FULL if (layer + 1) % period == 0 else SLIDING for layer in range(layers))
    if window and text.flag("use_sliding_window"):
        first = text.integer("max_window_layers") or 0
        return tuple(SLIDING if layer >= first else FULL for layer in range(layers))
    if window and model_type in WHOLE_SLIDING and "use_sliding_window" not in text.config:
        return (SLIDING,) * layers
    return (FULL,) * layers
