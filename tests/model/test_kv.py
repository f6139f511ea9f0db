"""KV geometry against published worked numbers."""

import pytest

from preflight.model.kv import LinearState, cell_elements, index_bytes, linear_state, token_elements
from preflight.model.types import LayerGroup, Model
from preflight.profiles.find import find_model


def catalogue(name: str) -> Model:
    model = find_model(name)
    assert isinstance(model, Model)
    return model


@pytest.mark.parametrize(
    ("name", "attn_tp", "bytes_bf16"),
    [
        ("llama-3.1-8b", 1, 131_072),
        ("llama-3.1-8b", 8, 16_384),
        ("llama-3.1-8b", 16, 16_384),  # 8 KV heads: replicated beyond TP8
        ("qwen3-32b", 1, 262_144),
        ("deepseek-v3", 8, 70_272),  # MLA: whole on every rank
        ("kimi-k2.5-int4", 8, 70_272),
        ("kimi-k2.5-int4", 1, 70_272),
    ],
)
def test_bytes_per_token(name: str, attn_tp: int, bytes_bf16: int) -> None:
    elements = cell_elements(catalogue(name), attn_tp)
    assert elements is not None
    assert elements * 2 == bytes_bf16


def test_a_pipeline_stage_counts_its_own_layers() -> None:
    assert cell_elements(catalogue("deepseek-v3"), 8, range(16)) == 576 * 16


def test_sparse_index_adds_132_bytes() -> None:
    assert index_bytes(LayerGroup("mla", (0,), kv_lora_rank=512, qk_rope_head_dim=64, index_head_dim=128)) == 132
    assert index_bytes(LayerGroup("mla", (0,), kv_lora_rank=512, qk_rope_head_dim=64)) == 0


def test_gated_delta_net_state_of_qwen3_next_at_tp4() -> None:
    """Conv 8192 channels x 3 and 32 heads of 128 x 128, a quarter on each rank."""
    group = LayerGroup(
        "linear", (0,), linear="gdn", linear_k_heads=16, linear_v_heads=32, linear_k_dim=128, linear_v_dim=128,
        conv_kernel=4,
    )  # fmt: skip
    assert linear_state(group, 4) == LinearState(8192 * 3 // 4, 32 * 128 * 128 // 4)


def test_unknown_geometry_is_unknown() -> None:
    assert token_elements(LayerGroup("gqa", (0,), kv_heads=8)) is None
    assert cell_elements(Model("m")) is None
    assert linear_state(LayerGroup("linear", (0,), linear="gdn")) is None
