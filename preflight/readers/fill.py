"""Layers that fill variables into a text before anything else reads it: compose `${X:-d}` and Kubernetes `$(X)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from preflight.launch import DEFAULT, UNKNOWN_STATE, Token
from preflight.readers.script import CONDITIONAL, Region, Script
from preflight.readers.shellwords import STAND_END, STAND_IN, skip_braces
from preflight.records import NamedTuple
from preflight.text import Decoded, Text

_COMPOSE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|(\{))", re.ASCII)
_BRACED = re.compile(r"([A-Za-z_]\w*)(:?[-?+])?", re.ASCII)
_KUBERNETES = re.compile(r"\$(?:(\$)|\(([A-Za-z_][\w.-]*)\))|\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}", re.ASCII)
_DEPTH = 10


class Filled(NamedTuple):
    decoded: Decoded
    regions: tuple[Region, ...]


class Block(NamedTuple):
    """A template branch that is not yet closed: where it starts, in the raw text and in what is decoded so far."""

    raw: int
    start: int
    values: int
    regions: int
    either: bool


class Pieces:
    """A decoded text in the making, with its regions."""

    def __init__(self) -> None:
        self.open: list[Block] = []
        self.values: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.regions: list[Region] = []

    def same(self, raw: str, start: int, end: int) -> None:
        self.values.append(raw[start:end])
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def one(self, value: str, start: int, end: int) -> None:
        self.values.append(value)
        self.starts.extend([start] * len(value))
        self.ends.extend([end] * len(value))

    def hole(self, raw: str, start: int, end: int, name: str) -> None:
        """Left as written, for nobody to expand."""
        at = len(self.starts)
        self.same(raw, start, end)
        self.regions.append(Region(at, len(self.starts), UNKNOWN_STATE, name))

    def stand_in(self, start: int, end: int, name: str) -> None:
        """A hole whose raw text would be read as something else."""
        self.one(STAND_IN + name + STAND_END, start, end)

    def close(self, raw_end: int) -> None:
        """The end of a branch: what it encloses may be left out. With an `else` it is one or the other: a hole."""
        block = self.open.pop()
        inside = "".join(self.values[block.values :])
        if block.either and not re.search(r"[\n]|(?:^|\s)-", inside):
            del self.values[block.values :], self.starts[block.start :], self.ends[block.start :], self.regions[block.regions :]
            self.stand_in(block.raw, raw_end, "")
        else:
            self.regions.append(Region(block.start, len(self.starts), CONDITIONAL, ""))

    def done(self, size: int) -> Filled:
        decoded = Decoded("".join(self.values), 0, [*self.starts, size], self.ends)
        return Filled(decoded, tuple(sorted(self.regions, key=lambda region: (region.start, region.end))))


def fill_compose(raw: str) -> Filled:
    """Compose's own variables: a default is taken, anything else from outside stays a hole, `$$` is a dollar."""
    pieces = Pieces()
    _compose(raw, 0, len(raw), pieces, 0)
    return pieces.done(len(raw))


def _compose(raw: str, start: int, end: int, pieces: Pieces, depth: int) -> None:
    at = start
    while True:
        match = _COMPOSE.search(raw, at, end)
        if match is None:
            pieces.same(raw, at, end)
            return
        pieces.same(raw, at, match.start())
        if match.group(1):
            pieces.one("$", match.start(), match.end())
            at = match.end()
        elif match.group(2):
            pieces.hole(raw, match.start(), match.end(), match.group(2))
            at = match.end()
        else:
            at = _compose_braced(raw, match.start(), end, pieces, depth)


def _compose_braced(raw: str, start: int, end: int, pieces: Pieces, depth: int) -> int:
    closing = skip_braces(raw, start + 1, end)
    name = _BRACED.match(raw, start + 2, closing)
    if name is None or raw[closing - 1] != "}":
        pieces.same(raw, start, start + 1)
        return start + 1
    if name.group(2) not in ("-", ":-") or depth >= _DEPTH:
        optional = "+" if name.group(2) in ("+", ":+") else ""
        pieces.hole(raw, start, closing, name.group(1) + optional)
        return closing
    before = len(pieces.regions), len(pieces.starts), len(pieces.values)
    _compose(raw, name.end(), closing - 1, pieces, depth + 1)
    if any(region.state == UNKNOWN_STATE for region in pieces.regions[before[0] :]):
        del pieces.regions[before[0] :], pieces.starts[before[1] :], pieces.ends[before[1] :], pieces.values[before[2] :]
        pieces.hole(raw, start, closing, name.group(1))
    else:
        del pieces.regions[before[0] :]
        pieces.regions.append(Region(before[1], len(pieces.starts), DEFAULT, name.group(1)))
    return closing


def fill_kubernetes(raw: str, environment: Mapping[str, Token]) -> Filled:
    """`$(X)`: a literal of the container's environment is filled in, anything else stays a hole, `$$` is a dollar.

    A template action that is left in a text is a hole too.
    """
    pieces = Pieces()
    at = 0
    for match in _KUBERNETES.finditer(raw):
        pieces.same(raw, at, match.start())
        at = match.end()
        if match.group(1):
            pieces.one("$", match.start(), match.end())
            continue
        if match.group(2) is None:
            action(pieces, match)
            continue
        token = environment.get(match.group(2))
        if token is None or token.value is None:
            pieces.hole(raw, match.start(), match.end(), match.group(2))
            continue
        start = len(pieces.starts)
        pieces.one(token.value, match.start(), match.end())
        region = Region(start, len(pieces.starts), token.state, match.group(2), token.source, token.place)
        pieces.regions.append(region)
    pieces.same(raw, at, len(raw))
    return pieces.done(len(raw))


_CONTROL = re.compile(r"\{\{-?\s*(?:(if|with|range|define|block)|(else)|(end))\b|\{\{-?\s*(?:/\*|#)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?=\W*\Z)")


def action(pieces: Pieces, match: re.Match[str]) -> None:
    """A template action `{{ … }}`: a branch leaves nothing and makes what it encloses conditional, a value is a hole."""
    control = _CONTROL.match(match.group())
    if control is None:
        inside = match.group()[2:-2].partition("|")[0]
        name = _IDENTIFIER.search(inside)
        pieces.stand_in(match.start(), match.end(), name.group() if name else "")
    elif control.group(1):
        pieces.open.append(Block(match.start(), len(pieces.starts), len(pieces.values), len(pieces.regions), False))
    elif control.group(2) and pieces.open:
        pieces.open[-1] = pieces.open[-1]._replace(either=True)
    elif control.group(3) and pieces.open:
        pieces.close(match.end())


class _Filling:
    """A layer of filling in. What is written into it means itself: every dollar is doubled where that is needed."""

    __slots__ = ("fill", "special")

    def __init__(self, fill: Callable[[str], Filled], special: re.Pattern[str]) -> None:
        self.fill = fill
        self.special = special

    def decode(self, raw: str) -> Decoded | None:
        return self.fill(raw).decoded if "$" in raw or "{{" in raw else Decoded(raw)

    def encode(self, fragment: str) -> str | None:
        return self.special.sub(r"$\g<0>", fragment)


_DOLLAR = re.compile(r"\$")
_DOLLAR_PARENTHESIS = re.compile(r"\$(?=[$(])")


def compose_script(text: Text) -> Script:
    """A scalar of a compose file, as what compose hands on."""
    return _script(text, fill_compose, _DOLLAR)


def kubernetes_script(text: Text, environment: Mapping[str, Token]) -> Script:
    """A scalar of `command` or `args`, as what the container gets."""
    return _script(text, lambda raw: fill_kubernetes(raw, environment), _DOLLAR_PARENTHESIS)


def _script(text: Text, fill: Callable[[str], Filled], special: re.Pattern[str]) -> Script:
    inner = text.inner(0, len(text.value), _Filling(fill, special))
    assert inner is not None  # filling in reads every text
    if "$" not in text.value and "{{" not in text.value:
        return Script(inner)
    return Script(inner, fill(text.value).regions)
