"""config.json files made from the truth's model facts, for models that the catalogue does not have.

The facts keep geometry and quantisation and summarise long lists; what was summarised is laid out again by its rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_SUFFIXES = re.compile(r"(-(FP8|NVFP4|FP4|bf16|Dynamic|it|Instruct|0324|2507))+$", re.I)
_FP8_BLOCK = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
_FP8_DYNAMIC = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}},
    "ignore": ["lm_head", "re:.*vision.*", "re:.*router.*"],
}
_NVFP4 = {
    "quant_method": "modelopt",
    "quant_algo": "NVFP4",
    "kv_cache_scheme": {"num_bits": 8, "type": "float"},
    "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
    "ignore": ["lm_head"],
}


def model_config(name: str, quantization: str, facts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The configuration of a model by its hub id; of its base in the record's format where only the base is known."""
    exact = next((row for row in facts if row["model"].lower() == name.lower()), None)
    if exact is not None:
        return _config(exact, exact.get("quantization_config"))
    stem = _stem(name)
    base = next((row for row in facts if _stem(row["model"]) == stem), None)
    if base is None:
        return None
    scheme = _scheme(name, quantization)
    return None if scheme is None else _config(base, scheme or None)


def _stem(name: str) -> str:
    stem = _SUFFIXES.sub("", name.split("/")[-1]).lower()
    return stem.removeprefix("meta-")


def _scheme(name: str, quantization: str) -> Mapping[str, Any] | None:
    """The quantisation that a record states; empty for none, None where it is not one of these."""
    text = f"{quantization} {name}".lower()
    if "compressed-tensors fp8" in text:
        return _FP8_DYNAMIC
    if "fp8" in quantization.lower():
        return _FP8_BLOCK
    if "fp4" in text:
        return _NVFP4
    return {} if "none" in quantization else None


def _config(row: Mapping[str, Any], scheme: Mapping[str, Any] | None) -> dict[str, Any]:
    text = _text(row["text"])
    config: dict[str, Any] = {"architectures": row["architectures"], "model_type": row["model_type"]}
    if row.get("vision_config"):
        config |= {"text_config": text, "vision_config": row["vision_config"]}
    else:
        config |= text
    if scheme:
        config["quantization_config"] = _whole(scheme)
    return config


def _whole(scheme: Mapping[str, Any]) -> dict[str, Any]:
    """The scheme with its groups as a table, without the marks of what was left out of a list."""
    whole = dict(scheme)
    groups = whole.get("config_groups")
    if isinstance(groups, str):
        whole["config_groups"] = json.loads(groups)
    for key in ("ignore", "modules_to_not_convert"):
        if isinstance(whole.get(key), list):
            whole[key] = [entry for entry in whole[key] if not str(entry).startswith("...")]
    return whole


def _text(facts: Mapping[str, Any]) -> dict[str, Any]:
    text = {key: value for key, value in facts.items() if not key.endswith(("_count", "_summary"))}
    layers = facts.get("num_hidden_layers") or 0
    kinds = facts.get("layer_types_count")
    if kinds and layers and "layer_types" not in text:
        text["layer_types"] = _spread(kinds, layers)
    pattern = facts.get("hybrid_layer_pattern_summary")
    if pattern:
        full = pattern["counts"]["0"]
        step = layers // full
        text["hybrid_layer_pattern"] = [int(index % step != 0 or index // step >= full) for index in range(layers)]
    return text


def _spread(kinds: Mapping[str, int], layers: int) -> list[str]:
    """Full attention at the end of each block of equal size, the other kind elsewhere."""
    full = kinds.get("full_attention", 0)
    others = [kind for kind in kinds if kind != "full_attention"]
    if not full or not others:
        return [next(iter(kinds))] * layers
    block = layers // full
    ends = {(index + 1) * block - 1 for index in range(full)}
    return ["full_attention" if layer in ends else others[0] for layer in range(layers)]
