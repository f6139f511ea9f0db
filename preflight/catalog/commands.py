"""What the `preflight catalog` commands do. Their command line is elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preflight.catalog.declarations import Declared, read_flags
from preflight.catalog.history import dump_book, make_book
from preflight.catalog.load import load
from preflight.catalog.source import Source
from preflight.catalog.versions import version_key

ENGINE = "sglang"


def build(wheels: Sequence[Path], out: Path) -> None:
    """Write the flag history of the releases in `wheels` to the folder `out`.

    Raises ValueError for a file that is not a wheel of the engine, or one whose options cannot be read.
    """
    releases: list[tuple[str, Sequence[Declared]]] = []
    for path in wheels:
        source = Source(path)
        releases.append((source.version, read_flags(source)))
    releases.sort(key=lambda release: version_key(release[0]) or ((), 0, 0))
    (out / f"{ENGINE}.json").write_text(dump_book(make_book(ENGINE, releases)), encoding="utf-8")


def add(wheel: Path, root: Path) -> Path:
    """Write the options of one more release below `root`, where `load` finds them; the file's path."""
    source = Source(wheel)
    newest = load(ENGINE).newest
    known = {spelling: flag.setting for flag in newest.flags() for spelling in flag.spellings}
    book = make_book(ENGINE, [(source.version, read_flags(source))], known)
    path = root / ".preflight" / "flags" / f"{ENGINE}-{source.version}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump_book(book), encoding="utf-8")
    return path
