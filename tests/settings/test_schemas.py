"""The JSON Schemas are those that the code makes, and agree with what the readers take and the commands print."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli

from preflight.readers.launch_file import read
from preflight.readers.settings_file import read_settings
from preflight.schema.__main__ import SCHEMAS, schema_text
from preflight.text import Document

ROOT = Path(__file__).parents[2]


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema: dict[str, Any] = SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_files_are_up_to_date(name: str) -> None:
    written = (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert written == schema_text(name), "run python -m preflight.schema"


LAUNCHES = [
    'engine = "sglang"',
    'engine = "sglang"\nengine-version = "0.5.9"\n[hardware]\nmemory = "97887 MiB"\ncount = 8\ncompute-capability = 12.0',
    'engine = "vllm"\n[flags]\na = 1\nb = true\nc = ["x", 2]\nd = { e = 1 }\n[env]\nA = "1"',
    'engine = "sglang"\n[observed]\nfree-before-load = ["94.0 GiB", "93.9 GiB"]\nkv-tokens = 100_000',
    '[[launch]]\nengine = "vllm"\nname = "a"\n[launch.expect]\nkv-tokens = 1',
]
NOT_LAUNCHES = [
    "flags = {}",
    'engine = "sglnag"',
    'engine = "sglang"\nharware = {}',
    'engine = "sglang"\n[hardware]\nmemory = 96',
    'engine = "sglang"\n[hardware]\nmemory = "96"',
    'engine = "sglang"\n[hardware]\ncount = 0',
    'engine = "sglang"\n[hardware]\ninterconnect = "nvlnk"',
    'engine = "sglang"\n[observed]\nweights = []',
    'engine = "sglang"\n[expect]\nkv-tokens = 1.5',
    'engine = "sglang"\nengine-version = 0.5',
    'engine = "sglang"\n[env]\nA = true',
    'engine = "sglang"\n[launch]\nname = "a"',
]


def test_the_launch_schema_takes_what_the_reader_takes() -> None:
    valid = validator("launch")
    for text in LAUNCHES:
        assert read(Document("launch.toml", text)).problems == ()
        valid.validate(tomli.loads(text))
    for text in NOT_LAUNCHES:
        assert read(Document("launch.toml", text)).problems != (), text
        assert not valid.is_valid(tomli.loads(text)), text


def test_the_settings_schema_takes_what_the_reader_takes() -> None:
    valid = validator("settings")
    good = 'engine-version = ">=0.5.9"\nignore = ["VER003"]\n[files."a/**"]\nhardware = { profile = "8x-h200" }\nignore = ["MEM"]'
    bad = ["engine-version = 1", "files.a.select = ['MEM']", "fail-on = 'never ever'", "x = 1", "ignore = [1]"]
    settings = read_settings(Document("preflight.toml", good))
    assert settings is not None
    assert settings.problems == ()
    valid.validate(tomli.loads(good))
    for text in bad:
        settings = read_settings(Document("preflight.toml", text))
        assert settings is not None
        assert settings.problems != ()
        assert not valid.is_valid(tomli.loads(text)), text


def test_explain_prints_what_its_schema_says() -> None:
    from preflight.explain.data import explain
    from preflight.lint import lint_document

    texts = [
        'engine = "sglang"',
        'engine = "sglang"\nengine-version = "0.5.9"\nhardware.profile = "8x-rtx-pro-6000-blackwell"\n'
        'model.profile = "kimi-k2.5-int4"\nflags.tp-size = 8\nflags.mem-fraction-static = 0.55\n',
    ]
    data = explain([lint_document(Document("launch.toml", text)) for text in texts])
    assert len(data["launches"]) == 2
    validator("explain-output").validate(json.loads(json.dumps(data)))


def test_every_property_is_described() -> None:
    for name in ("launch", "settings"):
        missing: list[str] = []
        _undescribed(SCHEMAS[name](), name, missing)
        assert missing == []


def _undescribed(node: dict[str, Any], path: str, missing: list[str]) -> None:
    for name, inner in node.get("properties", {}).items():
        if "description" not in inner:
            missing.append(f"{path}.{name}")
        _undescribed(inner, f"{path}.{name}", missing)
