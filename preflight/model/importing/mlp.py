"""Dense MLPs and mixtures of experts.

Sources: SGLang 0.5.9 srt/models/{llama,qwen3_moe,deepseek_v2,glm4_moe,mixtral,llama4}.py, srt/layers/moe.
"""

from collections.abc import Sequence

from preflight.model.importing.fields import Fields
from preflight.model.importing.parts import Parts

EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")


def dense(parts: Parts, hidden: int, intermediate: int, layers: Sequence[int], matrices: int = 3, part: str = "target") -> None:
    """A gated MLP (three matrices) or a plain one (two)."""
    parts.linear("MLP", "mlp.gate_proj", intermediate, hidden, "columns", layers, count=matrices - 1, part=part)
    parts.linear("MLP", "mlp.down_proj", hidden, intermediate, "columns", layers, part=part)


def experts(
    parts: Parts,
    count: int,
    hidden: int,
    intermediate: int,
    layers: Sequence[int],
    matrices: int = 3,
    part: str = "target",
) -> None:
    """Routed experts of one shape."""
    up, down = "mlp.experts.0.gate_proj", "mlp.experts.0.down_proj"
    parts.linear("experts", up, intermediate, hidden, "experts", layers, count * (matrices - 1), count, expert=True, part=part)
    parts.linear("experts", down, hidden, intermediate, "experts", layers, count, count, expert=True, part=part)


def shared(parts: Parts, hidden: int, intermediate: int, layers: Sequence[int], module: str, part: str = "target") -> None:
    """Experts that every token visits."""
    parts.linear("shared experts", f"mlp.{module}.gate_proj", intermediate, hidden, "shared-experts", layers, 2, part=part)
    parts.linear("shared experts", f"mlp.{module}.down_proj", hidden, intermediate, "shared-experts", layers, part=part)


def sparse_layers(text: Fields, total: int) -> list[int]:
    """Indices of the layers whose MLP is a mixture of experts."""
    first_dense = text.integer("first_k_dense_replace") or 0
    step = text.integer("decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step") or 1
    only_dense = set(text.integers("mlp_only_layers") or ())
    frequency = text.integers("moe_layer_freq")
    if frequency is not None and len(frequency) == total:
        return [layer for layer, sparse in enumerate(frequency) if sparse]
    stated = text.integers("moe_layers")
    if stated is not None:
        return [layer for layer in stated if layer < total]
    if text.integer("decoder_sparse_step", "interleave_moe_layer_step"):
        return [layer for layer in range(total) if (layer + 1) % step == 0 and layer not in only_dense]
    return [layer for layer in range(first_dense, total) if layer % step == 0 and layer not in only_dense]
