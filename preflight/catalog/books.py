"""The catalogue's books on disk, and the order of the releases in them. A book's form is told in `history.py`."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preflight.catalog.versions import Key, version_key

EXACT, NEAREST, OLDER, NEWER = "exact", "nearest", "older", "newer"
_PARTS = {
    "releases": list,
    "choices": list,
    "features": dict,
    "flags": dict,
    "successors": dict,
    "values": dict,
    "variables": dict,
    "functions": dict,
}


def alive(row: Sequence[Any], index: int) -> bool:
    """Whether a row's span holds the release at `index`."""
    return row[0] <= index and (row[1] is None or index < row[1])


class Timeline:
    """The releases of several books in one order."""

    def __init__(self, books: Sequence[Mapping[str, Any]]) -> None:
        self.books = books
        self._order: list[tuple[Key, int, int]] = []
        seen = set()
        for number, book in enumerate(books):
            for index, version in enumerate(book["releases"]):
                key = version_key(version)
                if key is not None and key not in seen:  # what is shipped goes before what a project added
                    seen.add(key)
                    self._order.append((key, number, index))
        self._order.sort()

    @property
    def releases(self) -> list[str]:
        """Oldest first."""
        return [self.books[number]["releases"][index] for number, index in self.places()]

    def places(self) -> list[tuple[int, int]]:
        """Book and place in it of each release, oldest first."""
        return [(number, index) for _, number, index in self._order]

    def find(self, version: str) -> tuple[int, int, str] | None:
        """Book, place and fit of the release that answers for `version`; None: not a version."""
        wanted = version_key(version)
        if wanted is None:
            return None
        found = None
        for entry in self._order:
            if entry[0] > wanted:
                break
            found = entry
        if found is None:
            return (*self._order[0][1:], OLDER)
        fit = EXACT if found[0] == wanted else NEWER if found is self._order[-1] else NEAREST
        return found[1], found[2], fit

    def spans(self, here: Sequence[bool]) -> Iterator[tuple[str, str | None]]:
        """First release, and the one it is gone from, of each run in `here` (one entry a release)."""
        start = None
        for release, present in zip(self.releases, here, strict=True):
            if present and start is None:
                start = release
            elif not present and start is not None:
                yield start, release
                start = None
        if start is not None:
            yield start, None


def data_folder() -> str:
    """Where the catalogues lie: in the installed package, or beside it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "schemas", "flags")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "schemas", "flags")


def added_books(engine: str, project: "str | os.PathLike[str] | None") -> list[dict[str, Any]]:
    """What `project` added: one book a release."""
    folder = os.path.join(project, ".preflight", "flags") if project is not None else ""
    books = []
    for name in sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else ():
        if name.startswith(f"{engine}-") and name.endswith(".json"):
            try:
                book = _read(os.path.join(folder, name))
            except (OSError, ValueError):
                continue
            if book.get("engine") == engine and all(isinstance(book.get(key), kind) for key, kind in _PARTS.items()):
                books.append(book)
    return books


def read_book(name: str) -> dict[str, Any]:
    """A shipped book. Raises FileNotFoundError where there is none."""
    return _read(os.path.join(data_folder(), name))


def _read(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    if not isinstance(book, dict):
        raise ValueError(f"{path} is not a flag history")
    return book
