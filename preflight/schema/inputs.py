"""JSON Schemas of the files that people write, from the table of keys that the readers use."""

from __future__ import annotations

from typing import Any

from preflight.readers.launch_keys import (
    CAPABILITY,
    CHOICE,
    COUNT,
    FILES,
    LAUNCH,
    QUANTITY,
    SETTINGS,
    TABLE,
    TABLES,
    TEXTS,
    Key,
    Keys,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
QUANTITY_PATTERN = r"^\s*(\d[\d_]*(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*([kKmMgGtT][iI]?)?[bB]\s*$"
_SCHEMA_KEY = {"$schema": {"type": "string", "description": "The schema of this file, for editors."}}

_FLAGS = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [
            {"type": "boolean", "description": "true is a bare switch, false leaves the flag out."},
            {"type": ["string", "number"], "description": "The value, as on the command line."},
            {"type": "array", "description": "Several values."},
            {"type": "object", "description": "A value that is given as JSON."},
        ]
    },
}
_ENV = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}


def launch_schema() -> dict[str, Any]:
    launch = _table(LAUNCH)
    return {
        "$schema": DIALECT,
        "title": "preflight launch file",
        "description": "How an LLM server is launched: launch.toml, *.launch.toml, or any TOML file that names an engine.",
        "type": "object",
        "properties": {
            **_SCHEMA_KEY,
            **launch["properties"],
            "launch": {
                "type": "array",
                "description": "Several launches, one [[launch]] each. The top-level tables are their defaults, key by key.",
                "items": launch,
            },
        },
        "additionalProperties": False,
        "anyOf": [{"required": ["engine"]}, {"required": ["launch"]}],
    }


def settings_schema() -> dict[str, Any]:
    schema = _table(SETTINGS)
    schema["properties"]["files"]["additionalProperties"] = _table(FILES)
    return {
        "$schema": DIALECT,
        "title": "preflight project settings",
        "description": "preflight.toml, or the table [tool.preflight] of pyproject.toml.",
        **schema,
        "properties": {**_SCHEMA_KEY, **schema["properties"]},
    }


def _table(keys: Keys) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"description": key.text, **_value(name, key)} for name, key in keys.items()},
        "additionalProperties": False,
    }


def _value(name: str, key: Key) -> dict[str, Any]:
    if key.kind == TABLE:
        return {"flags": _FLAGS, "env": _ENV}.get(name) or _inner_table(name)
    one = _scalar(key)
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]} if key.per_rank or key.kind == TEXTS else one


def _inner_table(name: str) -> dict[str, Any]:
    return _table(TABLES[name]) if name in TABLES else {"type": "object"}


def _scalar(key: Key) -> dict[str, Any]:
    if key.kind == COUNT:
        return {"type": "integer", "minimum": key.least}
    if key.kind == QUANTITY:
        return {"type": "string", "pattern": QUANTITY_PATTERN, "examples": ["94.0 GiB", "97887 MiB", "80 GB"]}
    if key.kind == CHOICE:
        return {"enum": list(key.choices)}
    if key.kind == CAPABILITY:
        return {"anyOf": [{"type": "string", "pattern": r"^\d{1,2}\.\d$"}, {"type": "number"}]}
    return {"type": "string", "pattern": r"\S"}
