"""Why tomli refuses a file, with the places. Loaded only for a file that is refused."""

from __future__ import annotations

import re

import tomli

from preflight.diagnostics import Finding, Problem, Related
from preflight.readers.toml_scan import ARRAY, PAIR, Item, Repeated, Scan
from preflight.records import NamedTuple
from preflight.text import Document, Place

_LONG_NUMBER = re.compile(r"[0-9A-Fa-fx_]{3000,}")

SYNTAX_ERROR, DUPLICATE_KEY = "CFG001", "CFG004"


def refused(document: Document, error: Exception) -> Problem:
    if isinstance(error, RecursionError):
        return _no_toml(document, 0, 0, "Values are nested too deeply to be read. Nest them less.")
    if not isinstance(error, tomli.TOMLDecodeError):
        found = _LONG_NUMBER.search(document.text)
        span = found.span() if found is not None else (0, 0)
        return _no_toml(document, *span, "A number has too many digits to be read. Shorten it.")
    offset = _original_offset(document.text, error.pos)
    if error.msg.startswith(("Cannot ", "Duplicate ")):
        both = _declared_twice(document, offset)
        if both is not None:
            second, first = both
            name, other = second.text_of(), first.text_of()
            fact = f"{name} is given twice" if name == other else f"{name} cannot be added to {other}, which is complete"
            return Problem(
                DUPLICATE_KEY,
                Finding(
                    f"{fact}. Keep one of the two; nothing else of this file was checked.",
                    second.place,
                    related=(Related(first.place, "given here before"),),
                ),
            )
    end = offset + 1 if offset < len(document.text) and document.text[offset] not in "\r\n" else offset
    why = error.msg[:1].lower() + error.msg[1:]
    if error.msg == "Illegal character '\\n'":
        why = "a string is not closed on its line"
    message = f"This is not TOML: {why}. Correct it; nothing else of this file was checked."
    return _no_toml(document, offset, end, message)


def _no_toml(document: Document, start: int, end: int, message: str) -> Problem:
    return Problem(SYNTAX_ERROR, Finding(message, document.place(start, end)))


def _original_offset(text: str, position: int) -> int:
    """tomli counts in a text whose line ends are all `\\n`."""
    if "\r\n" not in text:
        return min(position, len(text))
    start = 0
    while (found := text.find("\r\n", start)) >= 0 and found < position:
        position += 1
        start = found + 2
    return min(position, len(text))


class _Declaration(NamedTuple):
    place: Place
    names: tuple[str, ...]
    kind: str

    def text_of(self) -> str:
        return ".".join(self.names)


_DOTTED = "dotted"
"""A table made by a dotted key: more dotted keys may add to it, a header may not."""


def _declared_twice(document: Document, offset: int) -> tuple[_Declaration, _Declaration] | None:
    """The first declaration that repeats another, and that other, where one starts before `offset`, at which tomli stopped."""
    scan = Scan(document)
    if scan.failed:
        return None
    known: dict[tuple[str, ...], _Declaration] = {}
    prefix: tuple[str, ...] = ()
    for statement in scan.statements:
        if statement.start > offset:
            break
        names = tuple(key.value for key in statement.keys)
        path = prefix + names if statement.kind == PAIR else names
        place = document.place(statement.keys[0].span.start, statement.keys[-1].span.end)
        declaration = _Declaration(place, path, statement.kind)
        for size in range(1, len(path) + 1):
            before = known.get(path[:size])
            if before is not None and _clash(before.kind, statement.kind, whole=size == len(path)):
                return declaration, before
        if statement.kind == ARRAY:  # a new element starts empty
            known = {one: known[one] for one in known if one[: len(path)] != path}
        known[path] = declaration
        if statement.kind != PAIR:
            prefix = path
            continue
        inside = _twice_inside(statement.item, path)
        if inside is not None:
            return inside
        for size in range(len(prefix) + 1, len(path)):
            known.setdefault(path[:size], _Declaration(place, path[:size], _DOTTED))
    return None


def _clash(before: str, now: str, *, whole: bool) -> bool:
    """Whether `now` may not follow `before` on the same path (`whole`), or on a path under it."""
    if before == PAIR:
        return True
    if not whole:
        return False
    return now == PAIR or not (before == now == ARRAY)


def _twice_inside(item: Item | None, path: tuple[str, ...]) -> tuple[_Declaration, _Declaration] | None:
    """The same key twice in one inline table: such an item remembers the key it met first."""
    if item is None:
        return None
    if isinstance(item.value, Repeated):
        return (
            _Declaration(item.value.second.place, path, PAIR),
            _Declaration(item.value.first.place, path, PAIR),
        )
    for name, entry in (item.entries or {}).items():
        found = _twice_inside(entry, (*path, name))
        if found is not None:
            return found
    for element in item.elements or ():
        found = _twice_inside(element, path)
        if found is not None:
            return found
    return None
