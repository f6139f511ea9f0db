"""Which of the mirrored functions a release has changed, and whether anyone has read them since.

    mirror = load_mirror("sglang")
    mirror.unread("0.5.16", "memory")      # functions in a form that no reviewed release has

Asked for releases that were not reviewed themselves: a figure that follows an unread function is a warning at most.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from preflight.catalog.books import Timeline, added_books, alive, read_book
from preflight.records import NamedTuple


class Form(NamedTuple):
    """One form of a mirrored function, where it stands, and since when; `gone` is None while it lives."""

    since: str
    gone: str | None
    topic: str
    place: str
    fingerprint: str


class Mirror:
    """The mirrored functions of every release of one engine."""

    def __init__(self, books: Sequence[Mapping[str, Any]]) -> None:
        self._books = books
        self.timeline = Timeline(books)
        self.reviewed: list[str] = books[0]["reviewed"]

    @property
    def names(self) -> list[str]:
        return sorted({name for book in self._books for name in book["functions"]})

    def history(self, name: str) -> list[Form]:
        """Every form of the functions called `name`, oldest first."""
        out = []
        for book in self._books:
            releases = book["releases"]
            for first, gone, topic, place, fingerprint in book["functions"].get(name, ()):
                out.append(Form(releases[first], None if gone is None else releases[gone], topic, place, fingerprint))
        return out

    def unread(self, version: str, topic: str | None = None) -> tuple[str, ...]:
        """The functions that `version` has in a form of which no reviewed release has one, by name.

        For a version that is not listed, those of the release that answers for it. Empty for what is not a version.
        """
        place = self.timeline.find(version)
        if place is None:
            return ()
        reviewed = [found for found in map(self.timeline.find, self.reviewed) if found is not None]

        def is_read(name: str, fingerprint: str) -> bool:
            return any(
                row[4] == fingerprint and alive(row, index)
                for number, index, _fit in reviewed
                for row in self._books[number]["functions"].get(name, ())
            )

        forms = self._forms(place[0], place[1], topic)
        return tuple(sorted({name for name, fingerprint in forms if not is_read(name, fingerprint)}))

    def changed(self, version: str) -> tuple[str, ...]:
        """The functions that are new or different in `version`, against the release before it."""
        releases = self.timeline.releases
        if version not in releases or releases.index(version) == 0:
            return ()
        places = self.timeline.places()
        at = releases.index(version)
        return tuple(sorted({name for name, _ in self._forms(*places[at]) - self._forms(*places[at - 1])}))

    def _forms(self, number: int, index: int, topic: str | None = None) -> set[tuple[str, str]]:
        return {
            (name, row[4])
            for name, rows in self._books[number]["functions"].items()
            for row in rows
            if alive(row, index) and topic in (None, row[2])
        }


def load_mirror(engine: str, project: "str | os.PathLike[str] | None" = None) -> Mirror:
    """The mirror of `engine`, with the releases that `project` added. Raises FileNotFoundError for an unknown
    engine.
    """
    return Mirror([read_book(f"{engine}-mirror.json"), *added_books(engine, project)])
