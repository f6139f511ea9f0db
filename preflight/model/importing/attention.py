"""Attention with token-wise caches: layer groups and the weights of their projections.

Sources: SGLang 0.5.23 srt/models/{llama,qwen3,qwen3_next,gemma4_causal,step3p5,mimo_v2,nemotron_nas,deepseek_v2,
deepseek_v4}.py, srt/layers/attention/{dsa,dsv4}.
"""

from collections.abc import Sequence

from preflight.model.importing.fields import Fields, Missing
from preflight.model.importing.kinds import CHUNKED, FULL, SLIDING
from preflight.model.importing.parts import Parts
from preflight.model.types import LayerGroup
from preflight.records import NamedTuple

KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_attention_groups")
HEADS = ("num_attention_heads", "n_head", "num_heads")
HIDDEN = ("hidden_size", "n_embd", "d_model")
GROUP_KINDS = {FULL: "gqa", SLIDING: "sliding", CHUNKED: "chunked"}


class Shape(NamedTuple):
    """Heads of one kind of attention layer."""

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int


def kv_heads(text: Fields) -> int:
    """Key and value heads; without a figure of their own there are as many as query heads."""
    if text.flag("multi_query") and text.integer(*KV_HEADS) is None:
        return 1
    stated = text.integer(*KV_HEADS)
    return text.need(*HEADS) if stated is None else stated


def shape_of(text: Fields, kind: str) -> Shape:
    """The heads of full or sliding layers; families that differ between the two spell it in several ways."""
    heads, groups = text.need(*HEADS), kv_heads(text)
    dim = text.integer("head_dim", "attention_head_dim") or text.need(*HIDDEN) // max(1, heads)
    v_dim = text.integer("v_head_dim") or dim
    if kind == FULL:
        wide = text.integer("global_head_dim")
        groups = (text.integer("num_global_key_value_heads") or groups) if wide else groups
        return Shape(heads, groups, wide or dim, wide or v_dim)
    other = text.table("attention_other_setting")
    heads = other.integer("num_attention_heads") or text.integer("swa_num_attention_heads") or heads
    groups = other.integer("num_attention_groups") or text.integer("swa_num_key_value_heads") or groups
    swa_dim = other.integer("head_dim") or text.integer("swa_head_dim")
    return Shape(heads, groups, swa_dim or dim, text.integer("swa_v_head_dim") or swa_dim or v_dim)


def token_groups(
    parts: Parts, text: Fields, kinds: Sequence[str], block: str, inputs: int = 1, gated: bool = False
) -> list[LayerGroup]:
    """Layer groups of all layers that store keys and values, with the weights of their projections.

    `inputs` hidden states are read side by side; `gated` doubles the query projection.
    """
    groups: list[LayerGroup] = []
    window = text.integer("sliding_window", "sliding_window_size", "window_size")
    for kind in (FULL, SLIDING, CHUNKED):
        layers = [layer for layer, found in enumerate(kinds) if found == kind]
        if not layers:
            continue
        if kind == FULL and text.integer("kv_lora_rank"):
            groups.append(mla(parts, text, layers))
            continue
        shape = shape_of(text, kind)
        one_for_both = kind == FULL and text.flag("attention_k_eq_v")
        projections(parts, text, layers, shape, block, inputs, gated, one_for_both)
        reach = {SLIDING: window, CHUNKED: text.integer("attention_chunk_size")}.get(kind)
        groups.extend(split_shared(text, GROUP_KINDS[kind], layers, shape, reach))
    return groups


def split_shared(text: Fields, kind: str, layers: Sequence[int], shape: Shape, window: int | None) -> list[LayerGroup]:
    """One group, or two where the last layers of the model read the cache of earlier ones."""
    total = text.need("num_hidden_layers", "n_layer", "num_layers")
    first_shared = total - (text.integer("num_kv_shared_layers") or 0)
    halves = (
        (tuple(layer for layer in layers if layer < first_shared), False),
        (tuple(layer for layer in layers if layer >= first_shared), True),
    )
    return [
        LayerGroup(kind, held, shape.kv_heads, shape.head_dim, shape.v_head_dim, window, shared_kv=shared)
        for held, shared in halves
        if held
    ]


def projections(
    parts: Parts,
    text: Fields,
    layers: Sequence[int],
    shape: Shape,
    block: str,
    inputs: int,
    gated: bool,
    one_for_both: bool,
) -> None:
    """Query, key, value and output projections of grouped-query attention."""
    hidden = text.need(*HIDDEN)
    wide = hidden * inputs
    width = shape.heads * shape.head_dim
    keys, values = shape.kv_heads * shape.head_dim, shape.kv_heads * shape.v_head_dim
    parts.linear("attention q", f"{block}.q_proj", width * (2 if gated else 1), wide, "heads", layers)
    stored = keys if one_for_both else keys + values
    parts.linear("attention k, v", f"{block}.k_proj", stored, wide, "kv-heads", layers, units=shape.kv_heads)
    if one_for_both:  # the checkpoint has no values of its own here, the engines' fused projection has
        parts.linear("attention v", f"{block}.k_proj", values, wide, "kv-heads", layers, units=shape.kv_heads, copy=True)
    parts.linear("attention o", f"{block}.o_proj", hidden, shape.heads * shape.v_head_dim, "heads", layers)
    if text.flag("use_head_wise_attn_gate"):
        parts.linear("attention gate", f"{block}.g_proj", shape.heads, hidden, "heads", layers)
    default = (text.text("model_type") or "").startswith("qwen2")
    if text.flag("attention_bias", text.flag("qkv_bias", text.flag("use_qkv_bias", default))):
        parts.plain("attention bias", (width + keys + values) * len(layers), "heads", layers)


def mla(parts: Parts, text: Fields, layers: Sequence[int], part: str = "target") -> LayerGroup:
    """Multi-head latent attention, with the sparse indexer (DSA) where the configuration has one."""
    hidden, heads = text.need("hidden_size"), text.need("num_attention_heads")
    nope, rope, v_dim = text.need("qk_nope_head_dim"), text.integer("qk_rope_head_dim"), text.need("v_head_dim")
    if rope is None:
        raise Missing("qk_rope_head_dim")
    lora, q_lora = text.need("kv_lora_rank"), text.integer("q_lora_rank")
    if q_lora:
        parts.linear("MLA q_a, kv_a", "self_attn.q_a_proj", q_lora, hidden, "replicated", layers, part=part)
        parts.linear("MLA q_b", "self_attn.q_b_proj", heads * (nope + rope), q_lora, "heads", layers, part=part)
    else:
        parts.linear("MLA q", "self_attn.q_proj", heads * (nope + rope), hidden, "heads", layers, part=part)
    parts.linear("MLA q_a, kv_a", "self_attn.kv_a_proj_with_mqa", lora + rope, hidden, "replicated", layers, part=part)
    parts.linear("MLA kv_b", "self_attn.kv_b_proj", heads * (nope + v_dim), lora, "heads", layers, part=part)
    parts.linear("MLA o", "self_attn.o_proj", hidden, heads * v_dim, "heads", layers, part=part)
    gate = text.text("gated_attention_proj_granularity_type")
    if gate in ("head_wise", "element_wise"):
        parts.plain("MLA gate", hidden * heads * (1 if gate == "head_wise" else v_dim) * len(layers), "heads", layers)
    absorbed(parts, lora * (nope + v_dim) * heads, layers, part)
    parts.plain("norms", ((q_lora or 0) + lora) * len(layers), layers=layers, part=part)
    index_dim = text.integer("index_head_dim")
    if index_dim and q_lora:
        index_heads = text.need("index_n_heads")
        wide = index_heads * index_dim
        parts.linear("indexer", "self_attn.indexer.wq_b", wide, q_lora, "replicated", layers, part=part)
        parts.linear("indexer", "self_attn.indexer.wk", index_dim, hidden, "replicated", layers, part=part)
        parts.plain("indexer", (hidden * index_heads + 2 * index_dim) * len(layers), layers=layers, part=part)
    return LayerGroup("mla", tuple(layers), kv_lora_rank=lora, qk_rope_head_dim=rope, index_head_dim=index_dim or None)


def absorbed(parts: Parts, elements_per_layer: int, layers: Sequence[int], part: str) -> None:
    """The copies of kv_b for absorbed decoding: SGLang always, vLLM where kv_b itself is quantised."""
    quantised = [layer for layer in layers if parts.quantization.format_of(f"layers.{layer}.self_attn.kv_b_proj")]
    for engine, held in (("sglang", list(layers)), ("vllm", quantised)):
        parts.plain("MLA absorbed", elements_per_layer * len(held), "heads", held, engines=(engine,), copy=True, part=part)


def compressed_mla(parts: Parts, text: Fields, layers: Sequence[int], part: str = "target") -> list[LayerGroup]:
    """DeepSeek-V4: one shared key of `head_dim`, kept for a window and, compressed, for every 4th or 128th token."""
    hidden, heads, dim = text.need("hidden_size"), text.need("num_attention_heads"), text.need("head_dim")
    q_lora, o_lora, o_groups = text.need("q_lora_rank"), text.need("o_lora_rank"), text.integer("o_groups") or 8
    ratios = text.integers("compress_ratios") or ()
    if len(ratios) < max(layers, default=-1) + 1:
        raise Missing("compress_ratios")
    parts.linear("MLA q_a, kv_a", "self_attn.wq_a", q_lora + dim, hidden, "replicated", layers, part=part)
    parts.linear("MLA q_b", "self_attn.wq_b", heads * dim, q_lora, "heads", layers, part=part)
    parts.linear("MLA o", "self_attn.wo_a", o_groups * o_lora, heads * dim // o_groups, "heads", layers, part=part)
    parts.linear("MLA o", "self_attn.wo_b", hidden, o_groups * o_lora, "heads", layers, part=part)
    groups = []
    for ratio in sorted({ratios[layer] for layer in layers}):
        held = [layer for layer in layers if ratios[layer] == ratio]
        index_dim = text.integer("index_head_dim") if ratio == 4 else None
        if ratio:
            overlap = 2 if ratio == 4 else 1
            parts.plain("compressor", 2 * overlap * dim * hidden * len(held), layers=held, part=part)
            parts.plain("compressor", ratio * overlap * dim * len(held), layers=held, format="fp32", part=part)
        if index_dim:
            index_heads = text.need("index_n_heads")
            parts.linear("indexer", "self_attn.indexer.wq_b", index_heads * index_dim, q_lora, "replicated", held, part=part)
            per_layer = index_heads * hidden + 4 * index_dim * hidden
            parts.plain("indexer", per_layer * len(held), layers=held, part=part)
        rope = text.need("qk_rope_head_dim")
        groups.append(
            LayerGroup(
                "mla",
                tuple(held),
                window=text.integer("sliding_window"),
                kv_lora_rank=dim - rope,
                qk_rope_head_dim=rope,
                index_head_dim=index_dim,
                compress_ratio=ratio or None,
            )
        )
    return groups


def block_groups(parts: Parts, text: Fields, blocks: Sequence[Fields]) -> list[LayerGroup]:
    """Models pruned block by block (Nemotron-NAS): each layer has its own number of KV heads, or no attention."""
    heads = text.need("num_attention_heads")
    dim = text.integer("head_dim") or text.need("hidden_size") // heads
    by_heads: dict[int, list[int]] = {}
    for layer, entry in enumerate(blocks):
        attention = entry.table("attention")
        if attention.flag("no_op") or attention.flag("replace_with_linear"):
            continue
        by_heads.setdefault(heads // max(1, attention.need("n_heads_in_group")), []).append(layer)
    groups = []
    for kv, layers in by_heads.items():
        shape = Shape(heads, kv, dim, dim)
        projections(parts, text, layers, shape, "self_attn", 1, False, False)
        groups.append(LayerGroup("gqa", tuple(layers), kv, dim, dim))
    return groups
