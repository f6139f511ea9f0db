"""`preflight schema`: the JSON Schemas that ship with the package."""

from __future__ import annotations

from pathlib import Path

from preflight.catalog.books import data_folder

_ENDING = ".schema.json"


def folder() -> Path:
    return Path(data_folder()).parent


def names() -> list[str]:
    return sorted(path.name.removesuffix(_ENDING) for path in folder().glob(f"*{_ENDING}"))


def schema_text(name: str) -> str | None:
    return (folder() / f"{name}{_ENDING}").read_text(encoding="utf-8") if name in names() else None
