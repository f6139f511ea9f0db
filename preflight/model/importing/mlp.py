"""Dense MLPs and mixtures of experts.

Sources: SGLang 0.5.23 srt/models/{llama,qwen2_moe,qwen3_moe,deepseek_v2,glm4_moe,mixtral,llama4,gpt_oss,gemma4_causal,
nemotron_h,minimax_m3,step3p5,lfm2,granitemoehybrid,nemotron_nas}.py, srt/layers/moe.
"""

from collections.abc import Sequence

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import ExpertShape, Parts
from preflight.records import NamedTuple

EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
PLAIN_MLP = ("gpt2", "gpt_neox", "gptj", "opt", "phi", "starcoder2", "falcon", "bloom", "gpt_bigcode")


class Names(NamedTuple):
    """What a family calls the blocks of a layer in its checkpoints; quantization patterns use these names."""

    attention: str = "self_attn"
    dense: str = "mlp"
    sparse: str = "mlp"
    mixer: str = "mamba"
    up: str = "up_proj"  # of routed experts
    down: str = "down_proj"


FAMILIES = {
    "nemotron_h": Names("mixer", "mixer", "mixer", "mixer"),
    "mixtral": Names(sparse="block_sparse_moe", up="w1", down="w2"),
    "minimax_m2": Names(sparse="block_sparse_moe", up="w1", down="w2"),
    "minimax_m3": Names(sparse="block_sparse_moe", up="w1", down="w2"),
    "minimax_m3_vl": Names(sparse="block_sparse_moe", up="w1", down="w2"),
    "llama4": Names(dense="feed_forward", sparse="feed_forward"),
    "gemma4": Names(sparse="moe"),
    "granitemoehybrid": Names(dense="shared_mlp", sparse="block_sparse_moe"),
    "falcon_h1": Names(dense="feed_forward"),
    "lfm2": Names(dense="feed_forward", sparse="feed_forward"),
    "lfm2_moe": Names(dense="feed_forward", sparse="feed_forward"),
    "step3p5": Names(sparse="moe"),
    "step3p7": Names(sparse="moe"),
}


def dense(
    parts: Parts,
    hidden: int,
    intermediate: int,
    layers: Sequence[int],
    block: str = "mlp",
    matrices: int = 3,
    part: str = "target",
) -> None:
    """A gated MLP (three matrices) or a plain one (two)."""
    parts.linear("MLP", f"{block}.gate_proj", intermediate, hidden, "columns", layers, count=matrices - 1, part=part)
    parts.linear("MLP", f"{block}.down_proj", hidden, intermediate, "columns", layers, part=part)


def matrices_of(text: Fields, model_type: str) -> int:
    """Two matrices where the activation is not gated, else three."""
    activation = text.text("mlp_hidden_act") or ""
    return 2 if activation == "relu2" or model_type in PLAIN_MLP else 3


def dense_width(text: Fields) -> int:
    """Intermediate size of dense layers."""
    if text.flag("block_auto_adjust_ff_dim"):  # LFM2 states the size before its own adjustment
        width = int(2 * (text.integer("block_ff_dim") or text.need("intermediate_size")) / 3)
        factor = text.factor("block_ffn_dim_multiplier")
        width = int(width * factor) if factor else width
        multiple = text.integer("block_multiple_of") or 1
        return -(-width // multiple) * multiple
    own = text.integer("intermediate_size_mlp", "dense_intermediate_size")
    if own is None and text.texts("layer_types") and text.integer("mamba_n_heads"):
        own = text.integer("shared_intermediate_size")  # Granite 4: the MLP that every token visits
    return own or text.need("intermediate_size", "n_inner", "ffn_dim")


def pruned_blocks(parts: Parts, hidden: int, blocks: Sequence[Fields]) -> None:
    """MLPs of a model pruned block by block: each layer has its own width, or none."""
    by_width: dict[int, list[int]] = {}
    for layer, entry in enumerate(blocks):
        ffn = entry.table("ffn")
        factor = ffn.factor("ffn_mult")
        if ffn.flag("no_op") or factor is None:
            continue
        width = -(-int(2 * factor * hidden / 3) // 256) * 256
        by_width.setdefault(width, []).append(layer)
    for width, layers in by_width.items():
        dense(parts, hidden, width, layers)


def sparse_layers(text: Fields, total: int, kinds: Sequence[str]) -> list[int]:
    """Indices of the layers whose MLP is a mixture of experts."""
    pattern = text.text("hybrid_override_pattern")
    if pattern is not None:
        return [layer for layer, letter in enumerate(pattern) if letter == "E"]
    blocks = text.texts("layers_block_type")
    if "moe" in blocks:
        return [layer for layer, word in enumerate(blocks) if word == "moe"]
    frequency = text.integers("moe_layer_freq")
    if frequency is not None and len(frequency) == total:
        return [layer for layer, sparse in enumerate(frequency) if sparse]
    listed = text.text("moe_layers_enum")
    if listed:
        return [int(layer) for layer in listed.split(",") if layer.strip().isdecimal() and int(layer) < total]
    stated = text.integers("moe_layers")
    if stated:
        return [layer for layer in stated if layer < total]
    only_dense = set(text.integers("mlp_only_layers") or ())
    first_dense = text.integer("first_k_dense_replace", "num_dense_layers") or 0
    step = text.integer("decoder_sparse_step", "interleave_moe_layer_step")
    if step:
        return [layer for layer in range(total) if (layer + 1) % step == 0 and layer not in only_dense]
    step = text.integer("moe_layer_freq") or 1
    return [layer for layer in range(first_dense, total) if layer % step == 0 and layer not in only_dense]


def mixture(parts: Parts, text: Fields, layers: Sequence[int], model_type: str, names: Names, part: str = "target") -> None:
    """Routed and shared experts with their router, in each of these layers."""
    hidden, count = text.need("hidden_size"), text.need(*EXPERTS)
    inner = text.integer("moe_intermediate_size", "expert_ffn_hidden_size") or text.need("intermediate_size")
    matrices = matrices_of(text, model_type)
    latent = text.integer("moe_latent_size", "routed_expert_hidden_size")
    block = f"{names.sparse}.experts"
    up, down = f"{block}.0.{names.up}", f"{block}.0.{names.down}"
    outside = latent or hidden
    shape = ExpertShape(inner, outside, gated=matrices == 3)
    parts.linear("experts", up, inner, outside, "experts", layers, count * (matrices - 1), count, shape, part)
    parts.linear("experts", down, outside, inner, "experts", layers, count, count, shape, part)
    if parts.quantization.experts_format == "mxfp4":  # FP8 code paths keep the scales of 4-bit experts in fp32
        bytes_more = 3 * (count * matrices * outside * inner // 32) * len(layers)
        parts.plain(
            "expert scales", bytes_more, "experts", layers, format="bytes", units=count, engines=("sglang",), copy=True,
            part=part,
        )  # fmt: skip
    if latent:
        parts.linear("expert latent", f"{names.sparse}.fc1_latent_proj", latent, hidden, "replicated", layers, 2, part=part)
    if model_type == "gpt_oss":
        biases = count * ((matrices - 1) * inner + hidden) * len(layers)
        parts.plain("expert bias", biases, "experts", layers, units=count, part=part)
    parts.plain("router", count * hidden * len(layers), layers=layers, part=part)
    if text.text("topk_method") == "noaux_tc":
        parts.plain("router", count * len(layers), layers=layers, format="fp32", part=part)
    shared_experts(parts, text, layers, inner, matrices, model_type, names, part)


def shared_experts(
    parts: Parts,
    text: Fields,
    layers: Sequence[int],
    inner: int,
    matrices: int,
    model_type: str,
    names: Names,
    part: str,
) -> None:
    """Experts that every token visits."""
    hidden = text.need("hidden_size")
    one = text.integer("shared_expert_intermediate_size")
    count = text.integer("n_shared_experts", "num_shared_experts", "moe_num_shared_experts") or 0
    stated = text.integer("moe_shared_expert_intermediate_size", "share_expert_dim")
    width = one or (stated or inner) * count or (stated or 0)
    if model_type.startswith("llama4"):
        width = inner
    if not width:
        return
    module = f"{names.sparse}.shared_expert" if one or model_type.startswith("llama4") else f"{names.sparse}.shared_experts"
    parts.linear("shared experts", f"{module}.up_proj", width, hidden, "shared-experts", layers, matrices - 1, part=part)
    parts.linear("shared experts", f"{module}.down_proj", hidden, width, "shared-experts", layers, part=part)
    if one:
        parts.plain("router", hidden * len(layers), layers=layers, part=part)
