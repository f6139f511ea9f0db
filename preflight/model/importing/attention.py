"""Attention of token-wise caches: layer groups and the weights of their projections.

Sources: SGLang 0.5.9 srt/models/{llama,qwen3,qwen3_moe,deepseek_v2}.py and srt/layers/attention/nsa (indexer).
"""

from collections.abc import Sequence

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import Parts
from preflight.model.types import LayerGroup

KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_attention_groups")


def head_dim(text: Fields) -> int:
    """Elements per attention head, stated or hidden size over heads."""
    stated = text.integer("head_dim", "attention_head_dim")
    return stated or text.need("hidden_size") // max(1, text.need("num_attention_heads"))


def kv_heads(text: Fields) -> int:
    """Key and value heads; without a figure of their own there are as many as query heads."""
    stated = text.integer(*KV_HEADS)
    return text.need("num_attention_heads") if stated is None else stated


def gqa(
    parts: Parts, text: Fields, layers: Sequence[int], gated: bool = False, bias: bool = False, inputs: int = 1
) -> LayerGroup:
    """Grouped-query attention; `gated` doubles the query projection, `inputs` hidden states are read side by side."""
    hidden, heads, groups, dim = (
        text.need("hidden_size"),
        text.need("num_attention_heads"),
        kv_heads(text),
        head_dim(text),
    )
    v_dim = text.integer("v_head_dim") or dim
    wide = hidden * inputs
    parts.linear("attention q", "self_attn.q_proj", heads * dim * (2 if gated else 1), wide, "heads", layers)
    parts.linear("attention k, v", "self_attn.k_proj", groups * (dim + v_dim), wide, "kv-heads", layers, units=groups)
    parts.linear("attention o", "self_attn.o_proj", hidden, heads * v_dim, "heads", layers)
    if bias:
        parts.plain("attention bias", (heads + 2 * groups) * dim * len(layers), "heads", layers)
    return LayerGroup("gqa", tuple(layers), kv_heads=groups, head_dim=dim, v_head_dim=v_dim)


def mla(parts: Parts, text: Fields, layers: Sequence[int], part: str = "target") -> LayerGroup:
    """Multi-head latent attention, with the sparse indexer (DSA) where the configuration has one."""
    hidden, heads = text.need("hidden_size"), text.need("num_attention_heads")
    nope, rope, v_dim = text.need("qk_nope_head_dim"), text.need("qk_rope_head_dim"), text.need("v_head_dim")
    lora, q_lora = text.need("kv_lora_rank"), text.integer("q_lora_rank")
    if q_lora:
        parts.linear("MLA q_a, kv_a", "self_attn.q_a_proj", q_lora, hidden, "replicated", layers, part=part)
        parts.linear("MLA q_b", "self_attn.q_b_proj", heads * (nope + rope), q_lora, "heads", layers, part=part)
    else:
        parts.linear("MLA q", "self_attn.q_proj", heads * (nope + rope), hidden, "heads", layers, part=part)
    parts.linear("MLA q_a, kv_a", "self_attn.kv_a_proj_with_mqa", lora + rope, hidden, "replicated", layers, part=part)
    parts.linear("MLA kv_b", "self_attn.kv_b_proj", heads * (nope + v_dim), lora, "heads", layers, part=part)
    parts.linear("MLA o", "self_attn.o_proj", hidden, heads * v_dim, "heads", layers, part=part)
    absorbed(parts, lora * (nope + v_dim) * heads, layers, part)
    parts.plain("norms", ((q_lora or 0) + lora) * len(layers), layers=layers, part=part)
    index_dim = text.integer("index_head_dim")
    if index_dim and q_lora:
        index_heads = text.need("index_n_heads")
        parts.linear("indexer", "self_attn.indexer.wq_b", index_heads * index_dim, q_lora, "replicated", layers, part=part)
        parts.linear("indexer", "self_attn.indexer.wk", index_dim, hidden, "replicated", layers, part=part)
        parts.plain("indexer", (hidden * index_heads + 2 * index_dim) * len(layers), layers=layers, part=part)
    return LayerGroup("mla", tuple(layers), kv_lora_rank=lora, qk_rope_head_dim=rope, index_head_dim=index_dim or None)


def absorbed(parts: Parts, elements_per_layer: int, layers: Sequence[int], part: str) -> None:
    """The copies of kv_b for absorbed decoding: SGLang always, vLLM where kv_b itself is quantised."""
    quantised = [layer for layer in layers if parts.quantization.format_of(f"layers.{layer}.self_attn.kv_b_proj")]
    for engine, held in (("sglang", list(layers)), ("vllm", quantised)):
        parts.plain("MLA absorbed", elements_per_layer * len(held), "heads", held, engines=(engine,), copy=True, part=part)
