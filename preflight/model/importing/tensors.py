"""From the tensors of a checkpoint to weight components: exact bytes, sharded by what each tensor is called.

Sources: SGLang 0.5.23 and vLLM 0.33.0 weight loaders (the names they map); llama.cpp tensor names for GGUF.
"""

import re
from collections.abc import Iterable

from preflight.model.importing.safetensors import Tensor
from preflight.model.types import Component, Model
from preflight.records import NamedTuple

LAYER = re.compile(r"(?:^|\.)(?:layers|blk|h|blocks)\.(\d+)\.")
VISION = re.compile(r"(?:^|\.)(?:visual|vision_tower|vision_model|vision_encoder|vision|vpm|vit|mm)\.")
PROJECTOR = re.compile(
    r"multi_modal_projector|mm_projector|embed_vision|patch_embed|pos_emb|patch_merger|merger|^mlp1\.|connector"
)

# (row name, sharding rule, pattern); the first that matches decides.
RULES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (name, shard, re.compile(pattern))
    for name, shard, pattern in (
        ("per-layer embedding", "embedding", r"embed_tokens_per_layer|per_layer_token_embd"),
        ("embedding", "embedding", r"embed_tokens\.|word_embeddings?\.|wte\.|tok_embeddings\.|token_embd\.|embeddings?\.weight$"),
        ("lm_head", "head", r"(?:^|\.)(?:lm_head|output|head)\.(?:weight|qweight|scales|qzeros|weight_)"),
        ("norms", "replicated", r"norm|(?:^|\.)ln_"),
        ("indexer", "replicated", r"\.indexer\."),
        ("compressor", "replicated", r"\.compressor\."),
        ("MLA q_a, kv_a", "replicated", r"q_a_proj|kv_a_proj|wq_a\.|wkv\.|fused_qkv_a|attn_q_a\.|attn_kv_a"),
        ("MLA kv_b", "heads", r"kv_b_proj|attn_kv_b|attn_k_b|attn_v_b"),
        ("MLA q_b", "heads", r"q_b_proj|wq_b\.|attn_q_b"),
        ("shared experts", "shared-experts", r"shared_experts?\.|shared_mlp\.|_shexp|share_expert\."),
        ("router", "replicated", r"(?:mlp|moe|ffn|mixer)\.gate\b|ffn_gate_inp|shared_expert_gate|e_score|router\b"),
        ("experts", "experts", r"experts?[.\d]|_exps\."),
        ("linear in", "linear", r"linear_attn\.|\.mamba\.|mixer\.(?:in_|out_|conv1d|A_log|D$|dt_b)|\.ssm_|\.conv\.|_conv1d"),
        ("attention qkv", "qkv", r"qkv_proj\.|query_key_value\.|c_attn\.|Wqkv\.|attn_qkv\."),
        ("attention k, v", "kv-heads", r"\b[kv]_proj\.|\battn_[kv]\.|\b(?:wk|wv)\."),
        ("attention q", "heads", r"\bq_proj\.|\battn_q\.|\bwq\."),
        ("attention o", "heads", r"\bo_proj\.|\bout_proj\.|\battn_output\.|\bwo(?:_a|_b)?\.|attention\.dense\.|\bc_proj\."),
        ("MLP", "columns", r"gate_proj|up_proj|down_proj|\bw[123]\.|\bfc[12]\.|ffn_(?:gate|up|down)\.|dense_(?:h_to_)?4h|c_fc"),
    )
)  # fmt: skip

FLOATS = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8}
KEPT_WIDE = re.compile(r"scale|A_log|dt_bias|e_score_correction|\.D$|zero_point|inv_freq")


class Place(NamedTuple):
    """What one tensor is: its row, rule, layer, and whether it belongs to prediction layers."""

    name: str
    shard: str
    layer: int | None
    part: str
    stage: str


def components_from_tensors(found: Iterable[Tensor], model: Model) -> tuple[Component, ...]:
    """Components with exact bytes. `model` gives the geometry and the copies that engines make."""
    sums: dict[tuple[str, str, str, str], dict[int | None, int]] = {}
    seen: dict[str, tuple[str, str]] = {}
    for tensor in found:
        place = place_of(tensor.name, model, seen)
        if place is None:
            continue
        size = loaded_bytes(tensor, model)
        for name, shard, share in split_fused(place, model):
            key = (name, shard, place.part, place.stage)
            layers = sums.setdefault(key, {})
            layers[place.layer] = layers.get(place.layer, 0) + size * share[0] // share[1]
    parts = [part for key, layers in sums.items() for part in by_layer(key, layers, model)]
    present = {part.name for part in parts}
    tied = "lm_head" not in present and "embedding" in present
    if tied:
        table = next(part for part in parts if part.name == "embedding")
        parts.append(table._replace(name="lm_head", shard="head", stage="last", tied=True))
    copies = [part for part in model.components or () if part.copy]
    return (*parts, *copies)


NUMBERS = re.compile(r"\d+")


def place_of(name: str, model: Model, seen: dict[str, tuple[str, str]]) -> Place | None:
    """Where a tensor goes; None for what engines do not load to the GPU. `seen` holds names already judged."""
    if name.endswith((".g_idx", ".weight_shape", "rotary_emb.inv_freq", "rope_freqs.weight")):
        return None
    template = NUMBERS.sub("#", name)
    if template not in seen:
        seen[template] = row_of(name)
    row, shard = seen[template]
    if shard.startswith("vision") or row.startswith("vision"):
        return Place(row, shard, None, "target", "first")
    match = LAYER.search(name)
    layer = int(match.group(1)) if match else None
    beyond = layer is not None and model.layers is not None and layer >= model.layers
    if beyond or name.startswith(("mtp.", "model.mtp.")):
        shared = row in ("embedding", "lm_head")  # the target's own, once loaded
        return None if shared else Place(row, shard, None, "mtp", "last")
    stage = "last" if row in ("lm_head", "norms") and layer is None else "first"
    return Place(row, shard, layer, "target", stage)


def row_of(name: str) -> tuple[str, str]:
    """Row name and sharding rule of a tensor."""
    if PROJECTOR.search(name) or VISION.search(name):
        return vision_row(name)
    return next(((row, shard) for row, shard, pattern in RULES if pattern.search(name)), ("other", "replicated"))


def vision_row(name: str) -> tuple[str, str]:
    """Towers: projections of their blocks are divided, the rest is replicated."""
    inside = LAYER.search(name) is not None and not name.endswith(".bias") and "norm" not in name
    if not inside:
        return "vision patches, projector", "replicated"
    if re.search(r"attn|attention|wqkv|\.wo\.|proj", name) and "mlp" not in name:
        return "vision attention", "vision"
    return "vision MLP", "vision-mlp"


def split_fused(place: Place, model: Model) -> list[tuple[str, str, tuple[int, int]]]:
    """A fused query-key-value tensor as its two parts; other tensors whole."""
    if place.shard == "vision-mlp":
        shard = "replicated" if (model.model_type or "").startswith("kimi") else "vision"
        return [(place.name, shard, (1, 1))]
    if place.shard != "qkv":
        return [(place.name, place.shard, (1, 1))]
    heads, groups = model.heads, model.kv_heads
    if not heads or not groups:
        return [("attention q", "heads", (1, 1))]
    width = heads + 2 * groups
    return [("attention q", "heads", (heads, width)), ("attention k, v", "kv-heads", (2 * groups, width))]


def loaded_bytes(tensor: Tensor, model: Model) -> int:
    """Bytes on the GPU: plain floating-point weights take the model's element type, whatever the file has."""
    width = FLOATS.get(tensor.dtype)
    if width and model.quantization is None and not KEPT_WIDE.search(tensor.name):
        return tensor.elements * {"fp32": 4}.get(model.dtype or "", 2)
    return tensor.bytes


def by_layer(key: tuple[str, str, str, str], layers: dict[int | None, int], model: Model) -> list[Component]:
    """Components of one row: layers that hold the same number of bytes together."""
    name, shard, part, stage = key
    units = {"kv-heads": model.kv_heads, "experts": model.experts}.get(shard)
    groups: dict[int, list[int]] = {}
    result = []
    for layer, size in layers.items():
        if layer is None:
            rows = model.vocab_size if shard in ("embedding", "head") else units
            result.append(Component(name, size, "bytes", shard, stage=stage, units=rows, part=part))
        else:
            groups.setdefault(size, []).append(layer)
    for size, held in groups.items():
        held.sort()
        result.append(Component(name, size * len(held), "bytes", shard, tuple(held), units=units, part=part))
    return result
