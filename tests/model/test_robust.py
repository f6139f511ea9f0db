"""Whatever a configuration holds, reading it ends in a model with known and unknown parts."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

import preflight.profiles.find
from preflight.model.codec import pack, unpack
from preflight.model.importing.config import model_from_config
from preflight.model.importing.files import import_model
from preflight.model.kv import cell_elements, request_state_bytes
from preflight.model.types import Model, Parallel
from preflight.model.weights import weight_rows
from preflight.profiles.hardware_profile import BadProfile
from preflight.profiles.model_profile import model_from_table
from preflight.profiles.model_writer import stated_profile

MODELS = Path(preflight.profiles.find.__file__).parent / "models"
NAMES = (
    "kimi-k2.5-int4", "deepseek-v4-flash", "qwen3.5-27b", "gpt-oss-120b", "gemma-4-26b-a4b", "nemotron-3-nano", "kimi-k3",
    "llama-3_3-nemotron-super-49b-v1", "granite-4.0-h-micro", "lfm2-1.2b", "minimax-m3", "glm-5.2-nvfp4", "qwen2.5-vl-7b",
)  # fmt: skip
CONFIGS = {name: tomli.loads((MODELS / f"{name}.toml").read_text(encoding="utf-8"))["config"] for name in NAMES}
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.integers(-3, 3), st.floats(), st.text(max_size=8),
    st.lists(st.one_of(st.integers(-3, 2**66), st.text(max_size=3), st.none()), max_size=5),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)  # fmt: skip


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in keys for path in ((*at, key), *paths(inner, (*at, key)))]


def mutated(config: dict[str, Any], path: tuple[Any, ...], value: object) -> dict[str, Any]:
    result = copy.deepcopy(config)
    inner: Any = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


def use(model: Model) -> None:
    """Everything that later steps ask of a model."""
    for engine in ("sglang", "vllm"):
        for parallel in (Parallel(), Parallel(tp=8), Parallel(tp=8, attn_dp=8, ep=8), Parallel(tp=2, pp=3)):
            for row in weight_rows(model, parallel, engine, compute_capability=(9, 0)) or ():
                assert 0 <= row.bytes_floor <= row.bytes_expected
    cell_elements(model, 3)
    request_state_bytes(model, "bf16", "fp32", 3)
    assert unpack(json.loads(json.dumps(pack(model)))) == model


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutated_configurations(data: st.DataObject) -> None:
    config = CONFIGS[data.draw(st.sampled_from(NAMES))]
    for _ in range(data.draw(st.integers(1, 3))):
        config = mutated(config, data.draw(st.sampled_from([path for path in paths(config) if path])), data.draw(ODD))
    use(model_from_config(config, "m"))


@given(st.dictionaries(st.text(max_size=12), ODD, max_size=6))
def test_arbitrary_configurations(config: dict[str, Any]) -> None:
    use(model_from_config(config, "m"))


def oracle_folder() -> Path | None:
    named = os.environ.get("PREFLIGHT_ORACLE_MODELS")
    folder = Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared" / "oracle" / "models"
    return folder if folder.is_dir() else None


@pytest.mark.skipif(oracle_folder() is None, reason="no folder of configurations here: set PREFLIGHT_ORACLE_MODELS")
def test_all_configurations_of_the_folder_load() -> None:
    folder = oracle_folder()
    assert folder is not None
    lacking = {path.name: model.missing for path in folder.iterdir() if (model := import_model(str(path))).components is None}
    assert lacking == {}


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutated_profiles(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    table = tomli.loads(stated_profile(model_from_config(CONFIGS[name], name), [], {"all": "this test"}))
    for _ in range(data.draw(st.integers(1, 2))):
        table = mutated(table, data.draw(st.sampled_from(paths(table))), data.draw(ODD))
    try:
        model = model_from_table(table)
    except BadProfile:
        return
    use(model)
