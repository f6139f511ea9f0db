"""Launches in the recipes of a Makefile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from preflight.launch import DEFAULT, KNOWN, UNKNOWN_STATE, LaunchSite, Reading, Token
from preflight.readers.fill import Filled, Pieces
from preflight.readers.script import Region, Script, references
from preflight.readers.shell import Context, distinct, script_sites
from preflight.readers.words import ANCHOR
from preflight.text import VERBATIM, Decoded, Document, Text

_ASSIGN = re.compile(r"^(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*(\?=|:{0,3}=|\+=)[ \t]*((?:[^\n#\\]|\\.)*?)[ \t]*\r?$", re.M)
_RECIPE = re.compile(r"(?:^\t[^\n]*(?:\\\r?\n[^\n]*)*(?:\n|\Z))+", re.M)
_PIECE = re.compile(r"\$\$|\$[({]([\w.-]+)[)}]|\$[({][^)}]*[)}]|\$(.)|^\t[-@+]*", re.M)


class RecipeCodec:
    """Recipe lines as the shell gets them: the tab and its marks gone, make's variables filled in, `$$` a dollar."""

    def __init__(self, known: Mapping[str, Token]) -> None:
        self.known = known

    def fill(self, raw: str) -> Filled:
        pieces = Pieces()
        at = 0
        for match in _PIECE.finditer(raw):
            pieces.same(raw, at, match.start())
            at = match.end()
            if match.group() == "$$":
                pieces.one("$", *match.span())
            elif match.group().startswith("$"):
                self._variable(raw, match, pieces)
        pieces.same(raw, at, len(raw))
        return pieces.done(len(raw))

    def _variable(self, raw: str, match: re.Match[str], pieces: Pieces) -> None:
        name = match.group(1) or match.group(2) or ""
        token = self.known.get(name)
        if token is None or token.value is None:
            pieces.hole(raw, *match.span(), name)
            return
        start = len(pieces.starts)
        pieces.one(token.value, *match.span())
        pieces.regions.append(Region(start, len(pieces.starts), token.state, name, token.source, token.place))

    def decode(self, raw: str) -> Decoded | None:
        return self.fill(raw).decoded

    def encode(self, fragment: str) -> str | None:
        return fragment.replace("$", "$$").replace("\n", "\n\t")


def read(document: Document) -> Reading:
    return Reading(tuple(distinct(_sites(document))))


def _sites(document: Document) -> Iterator[LaunchSite]:
    codec = RecipeCodec(_variables(document))
    for match in _RECIPE.finditer(document.text):
        if ANCHOR.search(match.group()) is None:
            continue
        text = Text.of(document, *match.span(), codec)
        if text is not None:
            yield from script_sites(Script(text, codec.fill(text.raw).regions), Context(document, "makefile"))


def _variables(document: Document) -> dict[str, Token]:
    """Variables with one literal assignment. `?=` may be overridden from outside, the others only on make's command line."""
    found: dict[str, Token] = {}
    counts: dict[str, int] = {}
    for match in _ASSIGN.finditer(document.text):
        name, operator, value = match.groups()
        counts[name] = counts.get(name, 0) + 1
        at = Text.of(document, *match.span(3), VERBATIM)
        if at is None or "$" in value or operator == "+=":
            found[name] = Token(None, at, None, UNKNOWN_STATE) if at is not None else found[name]
            continue
        uses = references(document.text).get(name, 0)
        found[name] = Token(value, at, at if uses <= 1 else None, DEFAULT if operator == "?=" else KNOWN)
    return {name: token for name, token in found.items() if counts[name] == 1}
