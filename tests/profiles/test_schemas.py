"""The schemas of profiles are those of the code, and every profile of the catalogue keeps to them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli

import preflight.profiles.find
from preflight.model.formats import RATIOS, ROW_SCALED
from preflight.model.types import Component, LayerGroup, Model, Vision
from preflight.profiles.hardware_profile import GPU_KEYS, INTERCONNECTS, MACHINE_KEYS

ROOT = Path(__file__).resolve().parents[2]
PROFILES = Path(preflight.profiles.find.__file__).parent


def schema(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((ROOT / "schemas" / f"{name}-profile.schema.json").read_text())
    return value


@pytest.mark.parametrize("folder", ["models", "gpus", "machines"])
def test_every_profile_of_the_catalogue_keeps_to_its_schema(folder: str) -> None:
    validator = jsonschema.Draft202012Validator(schema("model" if folder == "models" else "hardware"))
    for path in (PROFILES / folder).glob("*.toml"):
        errors = [error.message for error in validator.iter_errors(tomli.loads(path.read_text(encoding="utf-8")))]
        assert errors == [], path.name


def kebab(fields: tuple[str, ...], *without: str) -> set[str]:
    return {field.replace("_", "-") for field in fields if field not in without}


def test_the_model_schema_has_the_fields_of_the_code() -> None:
    properties = schema("model")["properties"]
    assert set(properties["components"]["items"]["properties"]) == kebab(Component._fields)
    assert set(properties["attention"]["items"]["properties"]) == kebab(LayerGroup._fields)
    assert set(properties["vision"]["properties"]) == kebab(Vision._fields)
    assert set(properties["model"]["properties"]) == kebab(Model._fields, "name", "attention", "components", "vision", "source")
    assert set(properties["components"]["items"]["properties"]["format"]["enum"]) == {*RATIOS, *ROW_SCALED}


def test_the_hardware_schema_has_the_keys_of_the_code() -> None:
    properties = schema("hardware")["properties"]
    assert set(properties) == GPU_KEYS | MACHINE_KEYS
    assert tuple(properties["interconnect"]["enum"]) == INTERCONNECTS
