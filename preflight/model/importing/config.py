"""A `Model` from a checkpoint's config.json: geometry and weights by arithmetic alone."""

from collections.abc import Mapping
from typing import Any

from preflight.model.importing import attention, drafts, mlp, vision
from preflight.model.importing.fields import Fields, Missing
from preflight.model.importing.parts import Parts
from preflight.model.importing.quantization import Quantization, read_quantization
from preflight.model.types import LayerGroup, Model

CONTEXT = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_sequence_length",
)


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
    dtype = text.dtype() or top.dtype()
    model = Model(
        name,
        architecture=architectures[0] if architectures else None,
        model_type=top.text("model_type"),
        context_length=text.integer(*CONTEXT),
        layers=text.integer("num_hidden_layers", "n_layer", "num_layers"),
        hidden_size=text.integer("hidden_size", "n_embd", "d_model"),
        vocab_size=text.integer("vocab_size"),
        heads=text.integer("num_attention_heads", "n_head"),
        kv_heads=text.integer(*attention.KV_HEADS),
        head_dim=text.integer("head_dim"),
        dtype=dtype,
        quantization=quantization.method,
        kv_cache_dtype=quantization.kv_cache_dtype,
        vision=vision.vision_facts(top, top.text("model_type") or ""),
        experts=text.integer(*mlp.EXPERTS) or None,
        experts_per_token=text.integer("num_experts_per_tok", "num_experts_per_token", "moe_top_k", "top_k_experts"),
        moe_intermediate_size=text.integer("moe_intermediate_size"),
        mtp_layers=text.integer("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"),
        source=(("geometry", origin), ("weights", f"arithmetic from {origin}")),
    )
    return with_parts(model, top, text, quantization)


def text_fields(top: Fields) -> Fields:
    """The table that describes the language model."""
    for key in ("text_config", "llm_config", "language_config"):
        inner = top.table(key)
        if inner.integer("num_hidden_layers") is not None:
            return inner
    return top


def with_parts(model: Model, top: Fields, text: Fields, quantization: Quantization) -> Model:
    """Attention groups and weight components added, each left unknown where a figure for it is missing."""
    parts = Parts(quantization, model.dtype or "bf16")
    missing: list[str] = []
    try:
        groups = layer_groups(parts, text)
        model = model._replace(attention=groups)
        if model.kv_heads is None and groups[0].kv_heads is not None:
            model = model._replace(kv_heads=groups[0].kv_heads)
        if model.head_dim is None:
            model = model._replace(head_dim=groups[0].head_dim)
    except Missing as error:
        missing.append(error.field)
    try:
        body(parts, top, text)
    except Missing as error:
        missing.append(error.field)
    if model.dtype is None:
        missing.append("torch_dtype")
    if quantization.unknown:
        missing.append(quantization.unknown)
    if not missing:
        model = model._replace(components=tuple(parts.components))
    return model._replace(missing=tuple(dict.fromkeys(missing)))


def layer_groups(parts: Parts, text: Fields) -> tuple[LayerGroup, ...]:
    """Attention of every layer."""
    layers = range(text.need("num_hidden_layers", "n_layer", "num_layers"))
    if text.integer("kv_lora_rank"):
        return (attention.mla(parts, text, layers),)
    inputs = 2 if drafts.is_eagle3(text) else 1
    return (attention.gqa(parts, text, layers, bias=text.flag("attention_bias"), inputs=inputs),)


def body(parts: Parts, top: Fields, text: Fields) -> None:
    """Everything but attention."""
    hidden, total = text.need("hidden_size"), text.need("num_hidden_layers")
    count = text.integer(*mlp.EXPERTS) or 0
    sparse = mlp.sparse_layers(text, total) if count else []
    plain = [layer for layer in range(total) if layer not in set(sparse)]
    if plain:
        mlp.dense(parts, hidden, text.need("intermediate_size"), plain)
    if sparse:
        mixture(parts, text, hidden, count, sparse)
    parts.plain("norms", 2 * hidden * total, layers=range(total))
    parts.plain("norms", hidden, stage="last")
    if drafts.is_draft(text):
        drafts.finish(parts, text, hidden)
        return
    tied = top.flag("tie_word_embeddings", text.flag("tie_word_embeddings"))
    parts.vocabulary(text.need("vocab_size"), hidden, tied)
    table = top.table("vision_config")
    if table.integer("vt_num_hidden_layers") is not None:
        vision.moonvit(parts, table, hidden)


def mixture(parts: Parts, text: Fields, hidden: int, count: int, layers: list[int]) -> None:
    """Routed and shared experts with their router."""
    inner = text.integer("moe_intermediate_size") or text.need("intermediate_size")
    mlp.experts(parts, count, hidden, inner, layers)
    shared = text.integer("n_shared_experts") or 0
    width = text.integer("shared_expert_intermediate_size") or shared * inner
    if width:
        module = "shared_expert" if text.integer("shared_expert_intermediate_size") else "shared_experts"
        mlp.shared(parts, hidden, width, layers, module)
    parts.plain("router", count * hidden * len(layers), layers=layers)
    if text.text("topk_method") == "noaux_tc":
        parts.plain("router", count * len(layers), layers=layers, format="fp32")
