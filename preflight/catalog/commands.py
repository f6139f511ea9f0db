"""What the `preflight catalog` commands do. Their command line is elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from preflight.catalog.declarations import read_flags
from preflight.catalog.environment import read_environment
from preflight.catalog.features import read_features
from preflight.catalog.history import (
    Book,
    dump_book,
    feature_releases,
    flag_forms,
    flag_releases,
    in_order,
    make_flag_book,
    make_variable_book,
    settings_of,
    variable_forms,
    variable_releases,
)
from preflight.catalog.load import load
from preflight.catalog.source import Source

ENGINE = "sglang"


def build(wheels: Sequence[Path], out: Path) -> None:
    """Add the releases in `wheels` to the histories in the folder `out`, which are made where there are none.

    A release that they hold already is read anew. Raises ValueError for a file that is not a wheel of the engine, or
    one whose options cannot be read; then nothing is written.
    """
    sources = {source.version: source for source in map(Source, wheels)}
    flag_book, variable_book = _book(out / f"{ENGINE}.json"), _book(out / f"{ENGINE}-env.json")
    flags = flag_releases(flag_book) if flag_book else {}
    variables = variable_releases(variable_book) if variable_book else {}
    features = feature_releases(flag_book) if flag_book else {}
    for version in in_order(sources):
        known: dict[str, str] = {}
        for earlier in in_order(flags):
            known.update(settings_of(flags[earlier]))
        flags[version] = flag_forms(read_flags(sources[version]), known)
        features[version] = read_features(sources[version])
        variables[version] = variable_forms(read_environment(sources[version]))
    _write(out / f"{ENGINE}.json", make_flag_book(ENGINE, flags, features))
    _write(out / f"{ENGINE}-env.json", make_variable_book(ENGINE, variables))


def add(wheel: Path, root: Path) -> Path:
    """Write the options of one more release below `root`, where `load` finds them; the file's path."""
    source = Source(wheel)
    known = {spelling: flag.setting for flag in load(ENGINE).newest.flags() for spelling in flag.spellings}
    path = root / ".preflight" / "flags" / f"{ENGINE}-{source.version}.json"
    forms = {source.version: flag_forms(read_flags(source), known)}
    book = make_flag_book(ENGINE, forms, {source.version: read_features(source)})
    book["variables"] = make_variable_book(ENGINE, {source.version: variable_forms(read_environment(source))})["variables"]
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, book)
    return path


def _book(path: Path) -> Book | None:
    if not path.is_file():
        return None
    book: Book = json.loads(path.read_text(encoding="utf-8"))
    return book


def _write(path: Path, book: Book) -> None:
    path.write_text(dump_book(book), encoding="utf-8")
