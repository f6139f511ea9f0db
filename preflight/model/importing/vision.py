"""Vision towers: the figures SGLang's configuration classes read, and the weights.

Sources: SGLang 0.5.23 srt/configs/kimi_k25.py, srt/models/{kimi_k25,kimi_vl_moonvit,qwen2_vl,qwen2_5_vl,qwen3_vl,
gemma3_mm,gemma4_vision,mllama4,internvl,pixtral,dots_ocr}.py; which attribute is read and which falls back is in the
facts on the multimodal memory factor.
"""

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import Parts
from preflight.model.types import Vision
from preflight.records import NamedTuple

FALLBACK_LAYERS, FALLBACK_HIDDEN = 24, 1024  # where the class has no attribute of that name


def vision_facts(config: Fields, model_type: str) -> Vision | None:
    """The tower's shape; None for a model without one."""
    table = config.table("vision_config")
    if not table.config:
        return None
    table.text("model_type")  # keeps a tower without figures in a profile, so that its weights stay unknown
    layers = table.integer("num_hidden_layers", "vt_num_hidden_layers", "depth", "layers")
    hidden = table.integer("hidden_size", "vt_hidden_size", "width", "embed_dim")
    if model_type.startswith("kimi") and table.integer("vt_hidden_size"):
        return Vision(layers, hidden, layers, hidden)
    read_layers, read_hidden = table.integer("num_hidden_layers"), table.integer("hidden_size")
    return Vision(
        FALLBACK_LAYERS if read_layers is None else read_layers,
        FALLBACK_HIDDEN if read_hidden is None else read_hidden,
        layers,
        table.integer("embed_dim") if model_type == "qwen2_vl" else hidden,
    )


class Tower(NamedTuple):
    """A transformer encoder of images."""

    layers: int
    width: int
    inner: int
    matrices: int  # of its MLP: 3 gated, 2 not
    biased: bool
    around: int  # elements of patches, positions and norms
    projector: int  # elements of what maps its output to the language model


def vision_weights(parts: Parts, config: Fields, model_type: str, text_hidden: int) -> None:
    """The tower's components. Raises Missing where its configuration lacks a figure."""
    table = config.table("vision_config")
    if not table.config:
        return
    if table.integer("vt_num_hidden_layers") is not None:
        moonvit(parts, table, text_hidden)
        return
    tower = qwen_tower(table, text_hidden) if table.integer("depth") else siglip_tower(table, text_hidden, model_type)
    per_layer = 4 * tower.width * tower.width + (4 * tower.width if tower.biased else 0)
    mlp = tower.matrices * tower.width * tower.inner + (tower.inner + tower.width if tower.biased else 0)
    parts.tower("vision attention", "blocks.0.attn.qkv", per_layer * tower.layers, "vision")
    parts.tower("vision MLP", "blocks.0.mlp.fc1", mlp * tower.layers, "vision")
    parts.plain("vision patches, projector", tower.around)
    parts.tower("vision projector", "merger.linear_fc1", tower.projector, "vision")


def qwen_tower(table: Fields, text_hidden: int) -> Tower:
    """Qwen2-VL to Qwen3.5: patches in time and space, a patch merger, and (from Qwen3-VL) mergers of inner layers."""
    width = table.integer("embed_dim") or table.need("hidden_size")
    out = table.integer("out_hidden_size") or text_hidden
    inner = table.integer("intermediate_size") or int(width * (table.factor("mlp_ratio") or 4))
    merge = table.integer("spatial_merge_size") or 2
    merged = width * merge * merge
    channels = table.integer("in_channels", "in_chans") or 3
    patches = channels * (table.integer("temporal_patch_size") or 2) * table.need("patch_size") ** 2 * width
    positions = (table.integer("num_position_embeddings") or 0) * width
    layers = table.need("depth")
    gated = table.text("hidden_act") == "silu" and positions == 0 and table.integer("embed_dim") is None
    mergers = 1 + len(table.integers("deepstack_visual_indexes") or ())
    merger = merged * merged + merged * out
    around = patches + positions + 2 * width * layers
    return Tower(layers, width, inner, 3 if gated else 2, True, around, merger * mergers)


def siglip_tower(table: Fields, text_hidden: int, model_type: str) -> Tower:
    """SigLIP, CLIP, InternViT, Pixtral and the towers of Gemma and Llama 4."""
    layers = table.need("num_hidden_layers", "layers")
    width = table.need("hidden_size", "width")
    inner = table.integer("intermediate_size", "mlp_dim") or 4 * width
    gated = model_type.startswith(("gemma4", "pixtral", "mistral", "dots"))
    patch = table.integer("patch_size") or 14
    image = table.integer("image_size") or 0
    positions = (image // patch) ** 2 * width
    if model_type.startswith("gemma4"):
        positions = 2 * (table.integer("position_embedding_size") or 0) * width
    channels = table.integer("num_channels") or 3
    around = channels * patch * patch * width + positions + 4 * width * layers
    projector = width * text_hidden
    if model_type.startswith(("llava", "pixtral", "mistral")):
        projector += text_hidden * text_hidden
    if model_type.startswith("internvl"):
        projector = 4 * width * text_hidden + text_hidden * text_hidden
    if model_type.startswith("llama4"):
        middle = table.integer("projector_output_dim") or 4096
        shuffled = table.integer("projector_input_dim") or 4096
        projector = inner * shuffled + shuffled * middle + middle * text_hidden
    if model_type.startswith("dots"):
        projector = 16 * width * width + 4 * width * text_hidden
    return Tower(layers, width, inner, 3 if gated else 2, not gated, around, projector)


def moonvit(parts: Parts, table: Fields, text_hidden: int) -> None:
    """MoonViT and its patch-merging projector, as Kimi-VL and Kimi-K2.5 have them.

    SGLang divides the attention projections among ranks and replicates the rest; vLLM divides the MLP as well.
    """
    layers, width = table.need("vt_num_hidden_layers"), table.need("vt_hidden_size")
    inner = table.need("vt_intermediate_size")
    merge = table.integers("merge_kernel_size") or (2, 2)
    merged = width * merge[0] * merge[-1]
    patch = table.need("patch_size")
    attention = (4 * width * width + 4 * width) * layers
    mlp = (2 * width * inner + inner + width) * layers
    patches = 3 * patch * patch * width + width
    positions = table.need("init_pos_emb_height") * table.need("init_pos_emb_width") * width
    norms = 4 * width * layers + 2 * width
    projector = 2 * width + merged * merged + merged + merged * text_hidden + text_hidden
    parts.tower("vision attention", "encoder.blocks.0.wqkv", attention, "vision")
    parts.tower("vision MLP", "encoder.blocks.0.mlp.fc0", mlp, "replicated", engines=("sglang",))
    parts.tower("vision MLP", "encoder.blocks.0.mlp.fc0", mlp, "vision", engines=("vllm",))
    parts.plain("vision patches, projector", patches + positions + norms + projector)
