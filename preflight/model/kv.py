"""What a token or a request occupies in a KV cache: pure geometry, in elements or bytes.

What an engine's version counts of it (and in which element size) is that engine's own formula, built on these.
Sources: SGLang 0.5.9 srt/configs/model_config.py (head counts), srt/mem_cache/memory_pool.py,
srt/configs/mamba_utils.py; vLLM 0.33.0 model_executor/layers/mamba/mamba_utils.py.
"""

from preflight.model.formats import DTYPE_BYTES
from preflight.model.types import LayerGroup, Model
from preflight.records import NamedTuple


def kv_heads_per_rank(kv_heads: int, attn_tp: int) -> int:
    """KV heads on one rank; they are replicated where there are fewer heads than attention ranks."""
    return max(1, kv_heads // attn_tp)


def token_elements(group: LayerGroup, attn_tp: int = 1) -> int | None:
    """Elements that one token stores in ONE layer of the group on one rank (keys and values, or the MLA vector).

    0 for linear layers and for layers that read another layer's cache; None where the geometry is unknown. The
    bytes of a sparse-attention indexer are apart (`index_bytes`).
    """
    if group.kind == "linear" or group.shared_kv:
        return 0
    if group.kind == "mla":
        if group.kv_lora_rank is None or group.qk_rope_head_dim is None:
            return None
        return group.kv_lora_rank + group.qk_rope_head_dim
    if group.kv_heads is None or group.head_dim is None:
        return None
    v_head_dim = group.head_dim if group.v_head_dim is None else group.v_head_dim
    return kv_heads_per_rank(group.kv_heads, attn_tp) * (group.head_dim + v_head_dim)


def index_bytes(group: LayerGroup) -> int:
    """Bytes that a sparse-attention indexer (DSA) stores per token and layer: FP8 keys and one fp32 per 128 of them."""
    if group.index_head_dim is None:
        return 0
    return group.index_head_dim + group.index_head_dim // 128 * 4


def storing_layers(group: LayerGroup, stage: range | None = None) -> int:
    """Layers of the group that hold a cache on this pipeline stage (all stages: None)."""
    if group.shared_kv:
        return 0
    return len(group.layers) if stage is None else sum(1 for layer in group.layers if layer in stage)


def cell_elements(model: Model, attn_tp: int = 1, stage: range | None = None) -> int | None:
    """Elements per token over all layers of all token-wise groups on one rank; None where any is unknown."""
    if model.attention is None:
        return None
    elements = 0
    for group in model.attention:
        layers = storing_layers(group, stage)
        per_layer = token_elements(group, attn_tp)
        if per_layer is None:
            return None
        elements += per_layer * layers
    return elements


class LinearState(NamedTuple):
    """The state that one request keeps in ONE linear layer on one rank, in elements."""

    conv: int
    temporal: int


def linear_state(group: LayerGroup, attn_tp: int = 1, draft_tokens: int = 0) -> LinearState | None:
    """Elements of one request's state in one layer; None where the geometry is unknown.

    `draft_tokens` widens the convolution window as vLLM does under speculative decoding; SGLang passes 0.
    """
    k_heads, v_heads, k_dim, v_dim = (
        group.linear_k_heads,
        group.linear_v_heads,
        group.linear_k_dim,
        group.linear_v_dim,
    )
    window = (group.conv_kernel or 1) - 1 + (draft_tokens if group.conv_kernel else 0)
    if group.linear == "shortconv" and v_heads is not None and v_dim is not None:
        return LinearState(v_heads * v_dim // attn_tp * window, 0)
    if v_heads is None or k_dim is None or v_dim is None:
        return None
    temporal = v_heads * v_dim * k_dim // attn_tp
    if group.linear == "mamba1":
        return LinearState(v_heads * v_dim // attn_tp * window, temporal)
    if group.linear == "lightning":
        return LinearState(0, temporal)
    if k_heads is None:
        return None
    if group.linear == "mamba2":
        groups = k_heads if k_heads % attn_tp == 0 else attn_tp
        channels = v_heads * v_dim + 2 * groups * k_dim
    else:
        channels = 2 * k_heads * k_dim + v_heads * v_dim
    return LinearState(channels // attn_tp * window, temporal)


def request_state_bytes(
    model: Model, conv_dtype: str, state_dtype: str, attn_tp: int = 1, stage: range | None = None
) -> int | None:
    """Bytes of one request's linear state over all linear layers on one rank; 0 for models without any."""
    if model.attention is None:
        return None
    size = 0
    for group in model.attention:
        if group.kind != "linear":
            continue
        state = linear_state(group, attn_tp)
        if state is None:
            return None
        per_layer = state.conv * DTYPE_BYTES[conv_dtype] + state.temporal * DTYPE_BYTES[state_dtype]
        size += per_layer * storing_layers(group, stage)
    return size
