"""Rotary position tables: buffers that engines make while loading, one per distinct table.

SGLang keeps cosines and sines in fp32, vLLM in the model's element type; vLLM makes multimodal tables four times as
long. Sources: SGLang 0.5.9 srt/layers/rotary_embedding.py; vLLM 0.33.0 model_executor/layers/rotary_embedding.
"""

from collections.abc import Sequence

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import Parts
from preflight.model.types import LayerGroup, Model

MULTIMODAL_REACH = 4  # vLLM's factor for tables with image sections


def rotary_tables(parts: Parts, text: Fields, groups: Sequence[LayerGroup], model: Model, kind: str) -> None:
    """One table for each width and length that some attention layers rotate with."""
    unrotated = text.text("position_embedding_type") == "nope" or kind in ("nemotron_h", "jamba")
    if model.context_length is None or model.position_embeddings is None or unrotated:
        return
    tables = set()
    for group in groups:
        width = rotary_width(text, group, kind)
        local = group.kind == "sliding" and kind.startswith("gemma3")  # its own table, without scaling
        rows = model.position_embeddings if local else table_rows(text, model.context_length)
        if width:
            tables.add((rows, width))
    reach = MULTIMODAL_REACH if multimodal(text) else 1
    for rows, width in sorted(tables):
        for engine, format, size in (("sglang", "fp32", rows * width), ("vllm", None, rows * width * reach)):
            parts.plain("rotary tables", size, format=format, stage="all", engines=(engine,), copy=True, part="buffers")


def rotary_width(text: Fields, group: LayerGroup, kind: str) -> int:
    """Elements per position: cosines and sines of the rotated part of a head."""
    if group.kind == "mla":
        return group.qk_rope_head_dim or 0
    if group.kind == "linear":
        rotates = group.linear == "lightning" and text.flag("lightning_use_rope", True)
        return (group.linear_k_dim or 0) if rotates else 0
    if text.flag("attn_use_rope", True) is False or group.head_dim is None:
        return 0
    return int(group.head_dim * partial_factor(text, group.kind, kind))


def partial_factor(text: Fields, layer_kind: str, kind: str) -> float:
    """The share of a head that is rotated; Gemma 4's "proportional" tables cover the whole head."""
    if kind.startswith("gemma"):
        return 1.0
    tables = (text, text.table("rope_parameters"), text.table("rope_scaling"))
    for table in tables:
        for key in ("partial_rotary_factor", "rotary_percent", "rotary_pct"):
            value = table.factor(key)
            if value and value <= 1:
                return value
    stated = text.integer("rotary_dim")
    dim = text.integer("head_dim")
    return min(1.0, stated / dim) if stated and dim else 1.0


def table_rows(text: Fields, context: int) -> int:
    """Positions in a table: YaRN tables reach over the original length times the factor."""
    for key in ("rope_scaling", "rope_parameters"):
        table = text.table(key)
        factor = table.factor("factor")
        original = table.integer("original_max_position_embeddings")
        yarn = (table.text("rope_type", "type") or "") == "yarn"
        if yarn and original and factor and 1 <= factor <= 1024:
            return int(original * factor)
    return context


def multimodal(text: Fields) -> bool:
    """Whether positions have sections for time, height and width."""
    return any("mrope_section" in text.table(key).config for key in ("rope_scaling", "rope_parameters"))
