"""A `Model` from a checkpoint's config.json: geometry and weights by arithmetic alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from preflight.model.importing import attention, drafts, extras, linear, mlp, vision
from preflight.model.importing.attention import HEADS, HIDDEN
from preflight.model.importing.fields import Fields, Missing
from preflight.model.importing.kinds import BOTH, FULL, LINEAR, NONE, attention_kinds
from preflight.model.importing.mlp import FAMILIES, Names
from preflight.model.importing.parts import Parts
from preflight.model.importing.quantization import Quantization, declared_method, read_quantization
from preflight.model.importing.rotary import rotary_tables
from preflight.model.types import LayerGroup, Model

# In SGLang's order (srt/utils/hf_transformers_utils.py, get_context_length); the last two are other families'.
CONTEXT = (
    "max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings", "n_positions",
)  # fmt: skip
UNSTATED_DTYPE = "bf16"  # engines run a checkpoint without an element type in two bytes
LAYERS = ("num_hidden_layers", "n_layer", "num_layers")


def model_from_config(
    config: Mapping[str, Any], name: str, sidecar: Mapping[str, Any] | None = None, origin: str = "config.json"
) -> Model:
    """The model that a configuration describes; figures that it does not settle are None and named in `missing`.

    `sidecar` is the content of hf_quant_config.json where there is one.
    """
    top = Fields(config)
    text = text_fields(top)
    architectures = top.texts("architectures")
    quantization = read_quantization(config, sidecar)
    model_type = top.text("model_type") or text.text("model_type") or ""
    model = Model(
        name,
        architecture=architectures[0] if architectures else None,
        model_type=model_type or None,
        context_length=scaled_context(text),
        position_embeddings=text.integer(*CONTEXT),
        layers=text.integer(*LAYERS),
        hidden_size=text.integer(*HIDDEN),
        vocab_size=text.integer("vocab_size") or top.integer("vocab_size"),
        heads=text.integer(*HEADS),
        kv_heads=text.integer(*attention.KV_HEADS),
        head_dim=text.integer("head_dim"),
        dtype=text.dtype() or top.dtype() or UNSTATED_DTYPE,
        quantization=quantization.method,
        config_quantization=declared_method(config),
        kv_cache_dtype=quantization.kv_cache_dtype,
        vision=vision.vision_facts(top, model_type),
        experts=text.integer(*mlp.EXPERTS) or None,
        experts_per_token=text.integer("num_experts_per_tok", "num_experts_per_token", "moe_top_k", "top_k_experts"),
        moe_intermediate_size=text.integer("moe_intermediate_size"),
        mtp_layers=text.integer("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"),
        source=(("geometry", origin), ("weights", f"arithmetic from {origin}")),
    )
    return with_parts(model, top, text, quantization)


def scaled_context(text: Fields) -> int | None:
    """The context length that engines derive: positions times the scaling factor, unless an original length or the
    kind of scaling says that they are scaled already."""
    positions = text.integer(*CONTEXT)
    scaling = text.table("rope_scaling")
    factor = scaling.factor("factor") or 1.0
    stated = scaling.integer("original_max_position_embeddings") is not None or scaling.text("rope_type") == "llama3"
    return positions if positions is None or stated else int(positions * factor)


def text_fields(top: Fields) -> Fields:
    """The table that describes the language model."""
    for key in ("text_config", "llm_config", "language_config", "thinker_config"):
        inner = top.table(key)
        if key == "thinker_config":
            inner = inner.table("text_config")
        if inner.integer(*LAYERS) is not None:
            return inner
    if top.integer(*LAYERS) is None:
        counted = len(top.texts("layers_block_type")) or len(top.text("hybrid_override_pattern") or "")
        if counted:
            return Fields({**top.config, "num_hidden_layers": counted})
    return top


def with_parts(model: Model, top: Fields, text: Fields, quantization: Quantization) -> Model:
    """Attention groups and weight components added, each left unknown where a figure for it is missing."""
    parts = Parts(quantization, model.dtype or "bf16")
    model_type = model.model_type or ""
    missing: list[str] = []
    kinds: tuple[str, ...] = ()
    try:
        kinds = layer_kinds(text, model_type)
        groups = layer_groups(parts, text, kinds, model_type)
        first = next((group for group in groups if group.kind != "linear"), None)
        model = model._replace(
            attention=tuple(groups),
            kv_heads=model.kv_heads if model.kv_heads is not None or first is None else first.kv_heads,
            head_dim=model.head_dim if model.head_dim is not None or first is None else first.head_dim,
        )
    except Missing as error:
        missing.append(error.field)
    try:
        if kinds:
            body(parts, top, text, kinds, model_type)
            rotary_tables(parts, text, model.attention or (), model, family(text, model_type))
    except Missing as error:
        missing.append(error.field)
    if quantization.unknown:
        missing.append(quantization.unknown)
    if not missing:
        model = model._replace(components=tuple(parts.components))
    return model._replace(missing=tuple(dict.fromkeys(missing)))


def layer_kinds(text: Fields, model_type: str) -> tuple[str, ...]:
    """The attention of every layer. Raises Missing."""
    layers = text.need(*LAYERS)
    if layers > 10_000:
        raise Missing("num_hidden_layers")
    if pruned(text):
        return tuple(NONE for _ in range(layers))
    kinds = attention_kinds(text, layers, family(text, model_type))
    if kinds is None:
        raise Missing("the kind of every layer")
    return kinds


def family(text: Fields, model_type: str) -> str:
    """The model type that decides naming and defaults: the text model's where it is the same family."""
    inner = text.text("model_type") or model_type
    return inner.removesuffix("_text") if inner else model_type


def pruned(text: Fields) -> list[Fields]:
    """The per-layer tables of a model that was pruned block by block; empty for others."""
    blocks = text.config.get("block_configs")
    if not isinstance(blocks, list):
        return []
    return [Fields(entry if isinstance(entry, Mapping) else {}) for entry in blocks]


def layer_groups(parts: Parts, text: Fields, kinds: Sequence[str], model_type: str) -> list[LayerGroup]:
    """Attention and state of every layer."""
    blocks = pruned(text)
    if blocks:
        return attention.block_groups(parts, text, blocks)
    if text.config.get("compress_ratios") is not None:
        return attention.compressed_mla(parts, text, range(len(kinds)))
    kind = family(text, model_type)
    names = FAMILIES.get(kind, Names())
    token_wise = [FULL if found == BOTH else found for found in kinds]
    inputs = 2 if drafts.is_eagle3(text) else 1
    groups = attention.token_groups(parts, text, token_wise, names.attention, inputs, extras.gated_attention(text, kind))
    states = [layer for layer, found in enumerate(kinds) if found in (LINEAR, BOTH)]
    if states:
        groups.append(linear.linear_group(parts, text, states, kind, names.mixer))
    return groups


def body(parts: Parts, top: Fields, text: Fields, kinds: Sequence[str], model_type: str) -> None:
    """Everything but attention."""
    hidden, total = text.need(*HIDDEN), len(kinds)
    kind = family(text, model_type)
    names = FAMILIES.get(kind, Names())
    mlps(parts, text, kinds, kind, names)
    parts.plain("norms", 2 * hidden * total, layers=range(total))
    parts.plain("norms", hidden, stage="last")
    if drafts.is_draft(text):
        drafts.finish(parts, text, hidden)
        return
    extras.language_extras(parts, text, kind, kinds)
    tied = top.flag("tie_word_embeddings", text.flag("tie_word_embeddings", kind.startswith("gemma")))
    embedding = "replicated" if text.flag("replicate_embedding") else "embedding"
    head = "replicated" if text.flag("replicate_lm_head") else "head"
    parts.vocabulary(text.integer("vocab_size") or top.need("vocab_size"), hidden, tied, embedding, head)
    vision.vision_weights(parts, top, model_type, hidden)
    extras.prediction_layers(parts, text, kind, names)


def mlps(parts: Parts, text: Fields, kinds: Sequence[str], kind: str, names: Names) -> None:
    """Dense and sparse MLPs of all layers."""
    hidden, total = text.need(*HIDDEN), len(kinds)
    blocks = pruned(text)
    if blocks:
        mlp.pruned_blocks(parts, hidden, blocks)
        return
    sparse = mlp.sparse_layers(text, total, kinds) if text.integer(*mlp.EXPERTS) else []
    if sparse:
        mlp.mixture(parts, text, sparse, kind, names)
    plain = extras.dense_layers(text, kind, total, sparse)
    if plain:
        extras.dense_mlps(parts, text, kind, plain, names)
