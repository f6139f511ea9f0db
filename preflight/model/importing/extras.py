"""What single families add to the common shape of a decoder.

Sources: SGLang 0.5.23 srt/models/{gemma4_causal,gemma3n_causal,gpt_oss,deepseek_v4,qwen3_next_mtp,qwen3_5_mtp,
deepseek_nextn,glm4_moe_nextn,minimax_m3,grok}.py.
"""

from collections.abc import Sequence

from preflight.model.importing import attention, mlp
from preflight.model.importing.fields import Fields
from preflight.model.importing.mlp import Names
from preflight.model.importing.parts import Parts


def gated_attention(text: Fields, kind: str) -> bool:
    """Whether the query projection carries an output gate of the same size."""
    default = kind.startswith(("qwen3_next", "qwen3_5"))
    for name in ("attn_output_gate", "use_attn_output_gate", "attn_use_output_gate"):
        default = text.flag(name, default)
    return default


def dense_layers(text: Fields, kind: str, total: int, sparse: Sequence[int]) -> list[int]:
    """Layers with a dense MLP: those without experts, and all where experts come beside it."""
    pattern = text.text("hybrid_override_pattern")
    if pattern is not None:
        return [layer for layer, letter in enumerate(pattern) if letter == "-"]
    if text.texts("layers_block_type") and kind == "nemotron_h":
        return [layer for layer, word in enumerate(text.texts("layers_block_type")) if word == "mlp"]
    if text.flag("enable_moe_block") or text.flag("residual_moe") or kind == "granitemoehybrid":
        return list(range(total))
    return [layer for layer in range(total) if layer not in set(sparse)]


def dense_mlps(parts: Parts, text: Fields, kind: str, layers: Sequence[int], names: Names) -> None:
    """Dense MLPs; Gemma doubles the width of layers that read another layer's cache."""
    hidden, width = text.need(*attention.HIDDEN), mlp.dense_width(text)
    matrices = mlp.matrices_of(text, kind)
    shared = text.integer("num_kv_shared_layers") or 0
    if text.flag("use_double_wide_mlp") and shared:
        first = text.need("num_hidden_layers") - shared
        mlp.dense(parts, hidden, 2 * width, [layer for layer in layers if layer >= first], names.dense, matrices)
        layers = [layer for layer in layers if layer < first]
    mlp.dense(parts, hidden, width, layers, names.dense, matrices)


def language_extras(parts: Parts, text: Fields, kind: str, kinds: Sequence[str]) -> None:
    """Per-layer embeddings (Gemma), hyper-connections (DeepSeek-V4), sparse-attention indexers (MiniMax-M3)."""
    hidden, layers = text.need(*attention.HIDDEN), range(len(kinds))
    per_layer = text.integer("hidden_size_per_layer_input") or 0
    if per_layer:
        rows = text.integer("vocab_size_per_layer_input") or text.need("vocab_size")
        parts.plain("per-layer embedding", rows * per_layer * len(layers), "embedding", units=rows)
        parts.plain("per-layer projection", hidden * per_layer * len(layers))
        parts.linear("per-layer gates", "per_layer_input_gate", per_layer, hidden, "replicated", layers, count=2)
    streams = text.integer("hc_mult") or 0
    if streams:
        mixing = 2 * (2 + streams) * streams * streams * hidden
        parts.plain("hyper-connections", mixing * len(layers), layers=layers, format="fp32")
    if text.integer("num_hash_layers"):
        rows = text.need("vocab_size") * (text.integer("num_experts_per_tok") or 1)
        hashed = range(min(text.need("num_hash_layers"), len(layers)))
        parts.plain("router tables", rows * len(hashed), layers=hashed, format="int32")
    sparse = text.table("sparse_attention_config")
    if sparse.integer("sparse_num_index_heads"):
        width = (sparse.need("sparse_num_index_heads") + 1) * sparse.need("sparse_index_dim")
        frequency = sparse.integers("sparse_attention_freq")
        held = [layer for layer in layers if frequency is None or (layer < len(frequency) and frequency[layer])]
        parts.linear("indexer", "self_attn.index_q_proj", width, hidden, "heads", held)


def prediction_layers(parts: Parts, text: Fields, kind: str, names: Names) -> None:
    """Multi-token-prediction layers, which are loaded only to draft: one decoder layer and a fusing projection each.

    Embedding and head are the target's, shared after loading.
    """
    count = text.integer("num_nextn_predict_layers", "mtp_num_hidden_layers") or 0
    hidden = text.need(*attention.HIDDEN)
    total = text.need("num_hidden_layers", "n_layer", "num_layers")
    if not count or count > 16 or kind == "nemotron_h":
        return
    layers = range(total, total + count)
    if text.config.get("compress_ratios") is not None:
        ratios = text.integers("compress_ratios") or ()
        if len(ratios) < total + count:
            return
        attention.compressed_mla(parts, text, layers, part="mtp")
    elif text.integer("kv_lora_rank"):
        attention.mla(parts, text, layers, part="mtp")
    else:
        shape = attention.shape_of(text, "full")
        gated = 2 if gated_attention(text, kind) else 1
        width = shape.heads * shape.head_dim
        keys = shape.kv_heads * (shape.head_dim + shape.v_head_dim)
        parts.linear("attention q", "self_attn.q_proj", width * gated, hidden, "heads", layers, part="mtp")
        parts.linear("attention k, v", "self_attn.k_proj", keys, hidden, "kv-heads", layers, units=shape.kv_heads, part="mtp")
        parts.linear("attention o", "self_attn.o_proj", hidden, shape.heads * shape.v_head_dim, "heads", layers, part="mtp")
    if text.integer(*mlp.EXPERTS):
        mlp.mixture(parts, text, layers, kind, names, part="mtp")
    else:
        mlp.dense(parts, hidden, mlp.dense_width(text), layers, names.dense, part="mtp")
    parts.plain("MTP projection", 2 * hidden * hidden * count, part="mtp")
    parts.plain("norms", 5 * hidden * count, part="mtp")
