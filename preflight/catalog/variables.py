"""The environment variables of every release, read only for a launch that sets some of them.

variables = load_variables("sglang")
variables.at("0.5.9").get("SGLANG_ENABLE_SPEC_V2")
"""

import os
from collections.abc import Sequence
from typing import Any

from preflight.catalog.books import Timeline, added_books, alive, read_book
from preflight.records import NamedTuple

_KINDS = {"r": "read", "m": "mentioned"}
OLD_PREFIX, PREFIX = "SGL_", "SGLANG_"


class Variable(NamedTuple):
    """One variable of one release.

    `kind`: registered (typed, in the engine's registry), read (fetched by name), mentioned (occurs in the source: not
    unknown, no more). `type`: bool, int, float, str, tuple (commas) or json; None: not known. A `computed` default
    is not known. `deprecated` with `replaced_by` (a variable) and `flag` (an option) as the release itself says.
    """

    name: str
    kind: str
    type: str | None
    default: object
    computed: bool
    deprecated: bool
    replaced_by: str | None
    flag: str | None


class VariableHistory(NamedTuple):
    """`spans` of first release and the one it is gone from (None: still there in the newest).

    A name that is only mentioned counts as there.
    """

    name: str
    spans: tuple[tuple[str, str | None], ...]
    replaced_by: str | None
    flag: str | None

    @property
    def removed_since(self) -> str | None:
        return self.spans[-1][1]

    @property
    def added_in(self) -> str:
        return self.spans[0][0]


class VariableTable:
    """The variables of one release; `fit` as of a FlagTable."""

    def __init__(self, variables: "Variables", number: int, index: int, fit: str) -> None:
        self.fit = fit
        self.release: str = variables.books[number]["releases"][index]
        self._rows: dict[str, list[list[Any]]] = variables.books[number]["variables"]
        self._index = index

    def get(self, name: str) -> Variable | None:
        """`name` as the release knows it. An `SGL_` name that is copied to its `SGLANG_` one is that one,
        deprecated.
        """
        detail = self._detail(name)
        if detail is not None:
            return _variable(name, detail)
        successor = PREFIX + name.removeprefix(OLD_PREFIX)
        if name.startswith(OLD_PREFIX) and self._detail(successor) is not None and self.has_registry:
            found = _variable(successor, self._detail(successor) or {})
            return found._replace(name=name, deprecated=True, replaced_by=successor)
        return None

    @property
    def has_registry(self) -> bool:
        """Whether the release types its variables and copies `SGL_` names."""
        return any("k" not in row[2] for rows in self._rows.values() for row in rows if alive(row, self._index))

    def _detail(self, name: str) -> dict[str, Any] | None:
        return next((row[2] for row in self._rows.get(name, ()) if alive(row, self._index)), None)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Up to three names that may have been meant."""
        from difflib import get_close_matches

        here = [known for known, rows in self._rows.items() if any(alive(row, self._index) for row in rows)]
        return tuple(get_close_matches(name, here, n=3, cutoff=0.8))


class Variables:
    """All releases of one engine."""

    def __init__(self, books: Sequence[dict[str, Any]]) -> None:
        self.books = books
        self.timeline = Timeline(books)

    def at(self, version: str) -> VariableTable | None:
        """The variables of `version`, or of the next lower known release. None: not a version."""
        place = self.timeline.find(version)
        return None if place is None else VariableTable(self, *place)

    @property
    def newest(self) -> VariableTable:
        number, index = self.timeline.places()[-1]
        return VariableTable(self, number, index, "exact")

    def history(self, name: str) -> VariableHistory | None:
        """The life of `name` over all releases; None: no release has it."""
        tables = [VariableTable(self, number, index, "exact") for number, index in self.timeline.places()]
        details = [table._detail(name) for table in tables]
        if not any(detail is not None for detail in details):
            return None
        spans = tuple(self.timeline.spans([detail is not None for detail in details]))
        said: dict[str, Any] = next((d for d in reversed(details) if d is not None and ("e" in d or "f" in d)), {})
        return VariableHistory(name, spans, said.get("e"), said.get("f"))


def _variable(name: str, detail: dict[str, Any]) -> Variable:
    get = detail.get
    kind = _KINDS.get(get("k", ""), "registered")
    return Variable(name, kind, get("t"), get("v"), get("c", False), get("x", False), get("e"), get("f"))


def load_variables(engine: str, project: "str | os.PathLike[str] | None" = None) -> Variables:
    """The variables of `engine`, with the releases that `project` added. Raises FileNotFoundError for an unknown
    engine.
    """
    return Variables([read_book(f"{engine}-env.json"), *added_books(engine, project)])
