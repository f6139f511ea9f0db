"""Vision towers: the figures SGLang's configuration classes read, and the weights.

Sources: SGLang 0.5.9 srt/configs (KimiK25VisionConfig), srt/models/{kimi_k25,kimi_vl_moonvit,qwen3_vl,qwen2_5_vl}.py;
which attribute is read and which falls back is in the facts on the multimodal memory factor.
"""

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import Parts
from preflight.model.types import Vision

FALLBACK_LAYERS, FALLBACK_HIDDEN = 24, 1024  # where the class has no attribute of that name


def vision_facts(config: Fields, family: str) -> Vision | None:
    """The tower's shape; None for a model without one."""
    if not config.table("vision_config").config:
        return None
    table = config.table("vision_config")
    if family.startswith("kimi"):
        layers, hidden = table.integer("vt_num_hidden_layers"), table.integer("vt_hidden_size")
        if layers is not None and hidden is not None:
            return Vision(layers, hidden, layers, hidden)
    read_layers, read_hidden = table.integer("num_hidden_layers"), table.integer("hidden_size")
    return Vision(
        FALLBACK_LAYERS if read_layers is None else read_layers,
        FALLBACK_HIDDEN if read_hidden is None else read_hidden,
        table.integer("num_hidden_layers", "depth", "layers"),
        table.integer("hidden_size", "width", "embed_dim"),
    )


def moonvit(parts: Parts, table: Fields, text_hidden: int) -> None:
    """MoonViT and its patch-merging projector, as Kimi-VL and Kimi-K2.5 have them.

    SGLang divides the attention projections among ranks and replicates the rest; vLLM divides the MLP as well.
    """
    layers, width = table.need("vt_num_hidden_layers"), table.need("vt_hidden_size")
    inner = table.need("vt_intermediate_size")
    merge = table.integers("merge_kernel_size") or (2, 2)
    merged = width * merge[0] * merge[1]
    patch = table.need("patch_size")
    attention = (4 * width * width + 4 * width) * layers
    mlp = (2 * width * inner + inner + width) * layers
    patches = 3 * patch * patch * width + width
    positions = table.need("init_pos_emb_height") * table.need("init_pos_emb_width") * width
    norms = 4 * width * layers + 2 * width
    projector = 2 * width + merged * merged + merged + merged * text_hidden + text_hidden
    parts.plain("vision attention", attention, "vision")
    parts.plain("vision MLP", mlp, "replicated", engines=("sglang",))
    parts.plain("vision MLP", mlp, "vision", engines=("vllm",))
    parts.plain("vision patches, projector", patches + positions + norms + projector)
