"""Geometry and size of every family against published figures."""

import pytest

from preflight.model.kv import index_bytes, request_state_bytes, token_elements
from preflight.model.types import Component, Model
from preflight.profiles.find import find_model, list_models


def catalogue(name: str) -> Model:
    model = find_model(name)
    assert isinstance(model, Model), name
    return model


def parameters(model: Model) -> float:
    """Parameters of the checkpoint in billions, without what engines copy, drafting layers and a tied head."""
    assert model.components is not None

    def counts(part: Component) -> bool:
        return not part.copy and not part.tied and part.part == "target" and part.engines != ("vllm",)

    return sum(part.elements for part in model.components if counts(part)) / 1e9


# Billions of parameters as the model cards state them.
CARDS = {
    "llama-3.1-8b": 8.03,
    "llama-3.3-70b": 70.6,
    "llama-3.1-405b": 406,
    "llama-3.2-1b": 1.24,
    "llama-3.2-3b": 3.21,
    "qwen2.5-0.5b": 0.494,
    "qwen2.5-7b": 7.62,
    "qwen2.5-72b": 72.7,
    "qwen3-0.6b": 0.6,
    "qwen3-8b": 8.2,
    "qwen3-32b": 32.8,
    "qwen3-30b-a3b": 30.5,
    "qwen3-235b-a22b": 235,
    "qwen3-coder-480b-a35b-instruct": 480,
    "qwen3-next-80b-a3b": 80,
    "qwen2.5-vl-7b": 8.29,
    "qwen3-vl-8b": 8.77,
    "qwen3-vl-32b-instruct": 33.4,
    "qwen3.5-27b": 27.4,
    "qwen3.5-122b-a10b": 122.6,
    "gemma-2-9b": 9.24,
    "gemma-3-4b": 4.3,
    "gemma-3-12b": 12.2,
    "gemma-3-27b": 27.4,
    "gemma-4-26b-a4b": 25.8,
    "mixtral-8x7b": 46.7,
    "mixtral-8x22b": 140.6,
    "mistral-7b-v0.3": 7.25,
    "mistral-nemo": 12.2,
    "phi-4": 14.7,
    "glm-4.5-air": 106.9,
    "gpt-oss-20b": 20.9,
    "gpt-oss-120b": 116.8,
    "llama-4-scout-fp8-dynamic": 108.6,
    "llama-4-maverick": 400.7,
    "minimax-m2.5": 228.7,
    "mimo-v2-flash": 309,
    "deepseek-v2-lite": 15.7,
    "deepseek-v3": 671,
    "deepseek-v4-flash": 284,
    "kimi-k2-instruct": 1026,
    "kimi-k2.5-int4": 1027,
    "nemotron-3-nano": 31.6,
    "nvidia-nemotron-3-ultra-550b-a55b-bf16": 550,
    "nemotron-h-56b-base-8k": 56.3,
    "llama-3_3-nemotron-super-49b-v1": 49.9,
    "granite-4.0-micro": 3.4,
    "granite-4.0-h-micro": 3.19,
}


@pytest.mark.parametrize(("name", "billions"), CARDS.items())
def test_parameters_are_those_of_the_card(name: str, billions: float) -> None:
    assert parameters(catalogue(name)) == pytest.approx(billions, rel=0.008)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("kimi-k2.5-int4", (27, 1152)),
        ("qwen3-vl-8b", (24, 1152)),
        ("qwen3.5-27b", (24, 1152)),
        ("qwen2.5-vl-7b", (24, 1280)),
        ("gemma-3-27b", (27, 1152)),
        ("gemma-4-26b-a4b", (27, 1152)),
    ],
)
def test_vision_is_read_as_sglang_reads_it(name: str, read: tuple[int, int]) -> None:
    vision = catalogue(name).vision
    assert vision is not None
    assert (vision.sglang_layers, vision.sglang_hidden) == read


def test_sliding_layers_of_gpt_oss() -> None:
    """12 full and 12 sliding layers; 2,048 bytes per token in each at bf16."""
    full, sliding = catalogue("gpt-oss-20b").attention or ()
    assert (len(full.layers), len(sliding.layers), sliding.window) == (12, 12, 128)
    assert [token_elements(group, 1) for group in (full, sliding)] == [1024, 1024]


def test_state_of_qwen3_next_at_tp4() -> None:
    """(8192·3·2 + 32·128·128·4)·36/4 bytes per request."""
    assert request_state_bytes(catalogue("qwen3-next-80b-a3b"), "bf16", "fp32", 4) == 19_316_736


def test_dsa_stores_an_index_beside_the_compressed_vector() -> None:
    (group,) = catalogue("deepseek-v3.2").attention or ()
    assert (token_elements(group), index_bytes(group), len(group.layers)) == (576, 132, 61)


def test_global_layers_of_gemma_4_have_heads_of_their_own() -> None:
    full, sliding = catalogue("gemma-4-26b-a4b").attention or ()
    assert (len(full.layers), full.kv_heads, full.head_dim) == (5, 2, 512)
    assert (len(sliding.layers), sliding.kv_heads, sliding.head_dim, sliding.window) == (25, 8, 256, 1024)


def test_llama_4_attends_within_chunks_but_for_every_fourth_layer() -> None:
    full, chunked = catalogue("llama-4-scout").attention or ()
    assert full.layers[:2] == (3, 7)
    assert (len(chunked.layers), chunked.window) == (36, 8192)


def test_mimo_keys_and_values_differ_in_width() -> None:
    full, sliding = catalogue("mimo-v2-flash").attention or ()
    assert (full.kv_heads, full.head_dim, full.v_head_dim, len(full.layers)) == (4, 192, 128, 9)
    assert (sliding.kv_heads, sliding.window, len(sliding.layers)) == (8, 128, 39)


def test_pruned_layers_have_their_own_heads_or_none() -> None:
    groups = catalogue("llama-3_3-nemotron-super-49b-v1").attention or ()
    assert sum(len(group.layers) for group in groups) == 49


def test_drafts_read_embedding_and_hidden_state() -> None:
    """An EAGLE-3 draft of Llama-3.1-8B took 1.77 GiB in a public boot log."""
    from preflight.model.types import Parallel
    from preflight.model.weights import total, weight_rows

    rows = weight_rows(catalogue("draft-eagle3-llama-3.1-8b"), Parallel())
    assert rows is not None
    assert total(rows) / 2**30 == pytest.approx(1.77, abs=0.005)


def test_every_model_of_the_catalogue_is_whole() -> None:
    for name in list_models():
        model = catalogue(name)
        assert model.attention is not None
        if model.components is None:  # then its own profile says why the weights are not known
            assert "known" in dict(model.source)["config"]


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("gemma-3-27b", 1_048_576), ("llama-4-scout", 10_485_760), ("deepseek-v3", 163_840), ("llama-3.1-8b", 131_072)],
)
def test_context_length_is_what_sglang_resolves(name: str, tokens: int) -> None:
    """As the engine's own argument code answered."""
    assert catalogue(name).context_length == tokens
