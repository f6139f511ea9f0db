"""Formats of modules as the quantization configurations of every method in use state them."""

from typing import Any

import pytest

from preflight.model.formats import stored_bytes
from preflight.model.importing.quantization import read_quantization

MLP, GATE, ATTENTION = "layers.3.mlp.down_proj", "layers.3.mlp.gate", "layers.3.self_attn.q_proj"


def formats(config: dict[str, Any], sidecar: dict[str, Any] | None = None) -> tuple[str | None, ...]:
    found = read_quantization({"quantization_config": config}, sidecar)
    assert found.unknown is None
    return tuple(found.format_of(module) for module in (MLP, ATTENTION))


def weights(**scheme: object) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": scheme}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, "ignore": ["lm_head"]}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"quant_method": "fp8"}, "fp8-tensor"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8-block-128"),
        ({"quant_method": "fbgemm_fp8"}, "fp8-channel"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4-g128-zp"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}, "int4-g128-zp"),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "int8-g128"),
        (weights(num_bits=4, type="int", strategy="group", group_size=32, symmetric=True), "int4-g32"),
        (weights(num_bits=4, type="int", strategy="group", group_size=128, symmetric=False), "int4-g128-zp"),
        (weights(num_bits=8, type="float", strategy="channel"), "fp8-channel"),
        (weights(num_bits=8, type="float", strategy="block", block_structure=[128, 128]), "fp8-block-128"),
        (weights(num_bits=8, type="int", strategy="channel"), "int8-channel"),
        (weights(num_bits=4, type="float", strategy="tensor_group", group_size=16), "nvfp4"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "bnb-nf4-double"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bnb-int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group"}}}, "mxfp4"),
    ],
)
def test_one_scheme_for_all_linear_modules(config: dict[str, Any], expected: str) -> None:
    assert formats(config) == (expected, expected)


@pytest.mark.parametrize(
    "skip",
    [
        {"modules_to_not_convert": ["self_attn"]},
        {"ignored_layers": ["model.layers.3.self_attn"]},
        {"modules_to_not_convert": ["model.language_model.layers.3.self_attn.q_proj"]},
    ],
)
def test_modules_that_are_skipped(skip: dict[str, Any]) -> None:
    assert formats({"quant_method": "fp8", **skip}) == ("fp8-tensor", None)


@pytest.mark.parametrize("pattern", ["re:.*self_attn.*", "model.layers.*.self_attn*", "*self_attn*"])
def test_patterns_of_modules(pattern: str) -> None:
    config = weights(num_bits=8, type="float", strategy="channel")
    config["ignore"] = [pattern]
    assert formats(config) == ("fp8-channel", None)


def test_a_short_name_is_a_whole_segment() -> None:
    found = read_quantization({"quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["gate"]}})
    assert found.format_of(GATE) is None
    assert found.format_of("layers.3.mlp.gate_proj") == "fp8-tensor"


def test_mixed_precision_by_module() -> None:
    layers = {
        "model.layers.3.mlp.down_proj": {"quant_algo": "W4A16_NVFP4"},
        "model.layers.3.self_attn.q_proj": {"quant_algo": "FP8"},
    }
    sidecar = {"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}}
    assert formats({"quant_method": "modelopt"}, sidecar) == ("nvfp4", "fp8-tensor")


def test_gptq_leaves_modules_named_in_dynamic() -> None:
    config = {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {r"-:.*self_attn\..*": {}}}
    assert formats(config) == ("int4-g128-zp", None)


@pytest.mark.parametrize(
    "config",
    [
        {"quant_method": "exl3"},
        {"quant_method": "fp8", "weight_block_size": [64, 64]},
        {"quant_method": "gptq", "bits": 3, "group_size": 77},
        {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"+:.*mlp.*": {"bits": 8}}},
        weights(num_bits=5, type="int"),
        {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp6"}}},
    ],
)
def test_what_is_not_understood_is_said(config: dict[str, Any]) -> None:
    assert read_quantization({"quantization_config": config}).unknown is not None


@pytest.mark.parametrize("pattern", ["re:(a+)+$", "re:[", "re:" + "a" * 5000])
def test_a_hostile_pattern_matches_nothing(pattern: str) -> None:
    assert formats({"quant_method": "fp8", "modules_to_not_convert": [pattern]}) == ("fp8-tensor", "fp8-tensor")


@pytest.mark.parametrize(
    ("format", "bits"),
    [
        ("bf16", 16), ("fp8-block-128", 8.00195), ("int4-g32", 4.5), ("int4-g128", 4.125), ("int4-g128-zp", 4.15625),
        ("nvfp4", 4.5), ("mxfp4", 4.25), ("gguf-q4_k", 4.5), ("gguf-q8_0", 8.5), ("gguf-q6_k", 6.5625),
    ],
)  # fmt: skip
def test_bits_per_weight(format: str, bits: float) -> None:
    """Scales included, as the formats' descriptions give them."""
    assert stored_bytes(1 << 24, format) * 8 / (1 << 24) == pytest.approx(bits, abs=1e-4)
