"""Layers that keep a state of constant size per request: geometry and projections.

Sources: SGLang 0.5.23 srt/models/{qwen3_next,qwen3_5,kimi_linear,nemotron_h,granitemoehybrid,falcon_h1,lfm2,
bailing_moe_linear}.py and srt/configs/mamba_utils.py; vLLM 0.33.0 model_executor/layers/mamba.
"""

from collections.abc import Sequence

from preflight.model.importing.fields import DTYPES, Fields, Missing
from preflight.model.importing.parts import Parts
from preflight.model.types import LayerGroup


def linear_group(parts: Parts, text: Fields, layers: Sequence[int], model_type: str, block: str) -> LayerGroup:
    """The linear layers of a hybrid, by the fields that its kind has. Raises Missing."""
    if text.integer("linear_num_value_heads"):
        return gated_delta_net(parts, text, layers, split=model_type.startswith("qwen3_5"))
    if text.table("linear_attn_config").integer("num_heads"):
        return kimi_delta(parts, text, layers, text.table("linear_attn_config"))
    if text.integer("short_conv_kernel_size") and text.integer("head_dim"):
        return kimi_delta(parts, text, layers, text)
    if text.integer("mamba_num_heads", "mamba_n_heads"):
        return mamba2(parts, text, layers, block)
    if text.integer("conv_L_cache"):
        return short_conv(parts, text, layers)
    if model_type.startswith(("bailing", "minimax")) or text.integer("lightning_head_dim"):
        return lightning(parts, text, layers)
    raise Missing("the shape of the linear layers")


def state_dtype(text: Fields) -> str | None:
    """The element type that the checkpoint asks for its states."""
    return DTYPES.get(text.text("mamba_ssm_dtype", "mamba_ssm_cache_dtype") or "")


def gated_delta_net(parts: Parts, text: Fields, layers: Sequence[int], split: bool) -> LayerGroup:
    """Gated delta net of Qwen3-Next and Qwen3.5; the latter stores its input projections apart."""
    hidden, kernel = text.need("hidden_size"), text.need("linear_conv_kernel_dim")
    k_heads, v_heads = text.need("linear_num_key_heads"), text.need("linear_num_value_heads")
    k_dim, v_dim = text.need("linear_key_head_dim"), text.need("linear_value_head_dim")
    keys, values = k_heads * k_dim, v_heads * v_dim
    if split:
        parts.linear("linear in", "linear_attn.in_proj_qkv", 2 * keys + values, hidden, "linear", layers)
        parts.linear("linear in", "linear_attn.in_proj_z", values, hidden, "linear", layers)
        parts.linear("linear in", "linear_attn.in_proj_b", 2 * v_heads, hidden, "linear", layers)
    else:
        parts.linear("linear in", "linear_attn.in_proj_qkvz", 2 * keys + 2 * values, hidden, "linear", layers)
        parts.linear("linear in", "linear_attn.in_proj_ba", 2 * v_heads, hidden, "linear", layers)
    parts.linear("linear out", "linear_attn.out_proj", hidden, values, "linear", layers)
    parts.plain("linear conv", (2 * keys + values) * kernel * len(layers), "linear", layers)
    parts.plain("linear state", 2 * v_heads * len(layers), "linear", layers, format="fp32")
    return LayerGroup(
        "linear", tuple(layers), linear="gdn", linear_k_heads=k_heads, linear_v_heads=v_heads, linear_k_dim=k_dim,
        linear_v_dim=v_dim, conv_kernel=kernel, state_dtype=state_dtype(text),
    )  # fmt: skip


def kimi_delta(parts: Parts, text: Fields, layers: Sequence[int], linear: Fields) -> LayerGroup:
    """Kimi delta attention: low-rank gates unless the configuration asks for whole ones."""
    hidden = text.need("hidden_size")
    heads = linear.integer("num_heads") or text.need("num_attention_heads")
    dim = linear.need("head_dim")
    kernel = linear.integer("short_conv_kernel_size") or 4
    width = heads * dim
    parts.linear("linear in", "self_attn.q_proj", 3 * width, hidden, "linear", layers)
    whole = linear.flag("use_full_rank_gate") or linear.flag("no_kda_lora")
    if whole:
        both = linear.flag("no_kda_lora")
        parts.linear("linear gates", "self_attn.g_proj", width * (2 if both else 1), hidden, "linear", layers)
    if not linear.flag("no_kda_lora"):
        low_rank = 1 if whole else 2
        parts.linear("linear gates a", "self_attn.f_a_proj", dim * low_rank, hidden, "replicated", layers)
        parts.linear("linear gates", "self_attn.f_b_proj", width * low_rank, dim, "linear", layers)
    parts.linear("linear in", "self_attn.b_proj", heads, hidden, "linear", layers)
    parts.linear("linear out", "self_attn.o_proj", hidden, width, "linear", layers)
    parts.plain("linear conv", 3 * width * kernel * len(layers), "linear", layers, format="fp32")
    parts.plain("linear state", (heads + width) * len(layers), "linear", layers, format="fp32")
    return LayerGroup(
        "linear", tuple(layers), linear="kda", linear_k_heads=heads, linear_v_heads=heads, linear_k_dim=dim,
        linear_v_dim=dim, conv_kernel=kernel, state_dtype=state_dtype(text),
    )  # fmt: skip


def mamba2(parts: Parts, text: Fields, layers: Sequence[int], block: str) -> LayerGroup:
    """Mamba-2 as Nemotron-H, Granite 4 and Falcon-H1 have it."""
    hidden = text.need("hidden_size")
    heads = text.need("mamba_num_heads", "mamba_n_heads")
    dim = text.integer("mamba_head_dim", "mamba_d_head")
    if dim is None:
        dim = text.integer("mamba_d_ssm") or hidden * text.need("mamba_expand") // 1
        dim //= heads
    groups = text.integer("n_groups", "mamba_n_groups") or 1
    size = text.need("ssm_state_size", "mamba_d_state")
    kernel = text.integer("conv_kernel", "mamba_d_conv") or 4
    width = heads * dim
    channels = width + 2 * groups * size
    parts.linear("linear in", f"{block}.in_proj", 2 * width + 2 * groups * size + heads, hidden, "linear", layers)
    parts.linear("linear out", f"{block}.out_proj", hidden, width, "linear", layers)
    parts.plain("linear conv", channels * (kernel + 1) * len(layers), "linear", layers)
    parts.plain("linear state", 3 * heads * len(layers), "linear", layers, format="fp32")
    parts.plain("norms", width * len(layers), "linear", layers)
    return LayerGroup(
        "linear", tuple(layers), linear="mamba2", linear_k_heads=groups, linear_v_heads=heads, linear_k_dim=size,
        linear_v_dim=dim, conv_kernel=kernel, state_dtype=state_dtype(text),
    )  # fmt: skip


def short_conv(parts: Parts, text: Fields, layers: Sequence[int]) -> LayerGroup:
    """The gated short convolution of LFM2: no state but the convolution's window."""
    hidden, kernel = text.need("hidden_size"), text.need("conv_L_cache")
    parts.linear("linear in", "conv.in_proj", 3 * hidden, hidden, "linear", layers)
    parts.linear("linear out", "conv.out_proj", hidden, hidden, "linear", layers)
    parts.plain("linear conv", hidden * kernel * len(layers), "linear", layers)
    return LayerGroup("linear", tuple(layers), linear="shortconv", linear_v_heads=1, linear_v_dim=hidden, conv_kernel=kernel)


def lightning(parts: Parts, text: Fields, layers: Sequence[int]) -> LayerGroup:
    """Lightning attention (MiniMax-01, MiniMax-M1, Ling 2.5, MiniCPM-SALA): q, k, v, a gate, and a square state."""
    hidden = text.need("hidden_size")
    heads = text.integer("lightning_nh") or text.need("num_attention_heads")
    dim = text.integer("lightning_head_dim", "head_dim") or hidden // heads
    width = heads * dim
    parts.linear("linear in", "self_attn.qkv_proj", 3 * width, hidden, "linear", layers)
    parts.linear("linear gates", "self_attn.output_gate", width, hidden, "linear", layers)
    parts.linear("linear out", "self_attn.out_proj", hidden, width, "linear", layers)
    parts.plain("norms", width * len(layers), "linear", layers)
    return LayerGroup(
        "linear", tuple(layers), linear="lightning", linear_k_heads=heads, linear_v_heads=heads, linear_k_dim=dim,
        linear_v_dim=dim, state_dtype=state_dtype(text),
    )  # fmt: skip
