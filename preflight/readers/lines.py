"""Formats of logical lines: a backslash at the end of a line continues it, and a comment line in between is skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.records import NamedTuple
from preflight.text import Decoded, Document, Text

_CONTINUES = re.compile(r"\\[ \t]*(?:\r\n|\n|\r)(?:[ \t]*[#;][^\r\n]*(?:\r\n|\n|\r))*")
_PLAIN_CONTINUES = re.compile(r"\\(?:\r\n|\n|\r)")


class ContinuedCodec:
    """A logical line. What joins its lines reads as `joint`."""

    __slots__ = ("joint", "pattern")

    def __init__(self, joint: str, *, comments: bool) -> None:
        self.joint = joint
        self.pattern = _CONTINUES if comments else _PLAIN_CONTINUES

    def decode(self, raw: str) -> Decoded | None:
        if "\\" not in raw:
            return Decoded(raw)
        values: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for match in self.pattern.finditer(raw):
            values.append(raw[at : match.start()])
            starts.extend(range(at, match.start()))
            ends.extend(range(at + 1, match.start() + 1))
            if self.joint:
                values.append(self.joint)
                starts.append(match.start())
                ends.append(match.end())
            at = match.end()
        values.append(raw[at:])
        starts.extend(range(at, len(raw) + 1))
        ends.extend(range(at + 1, len(raw) + 1))
        return Decoded("".join(values), 0, starts, ends)

    def encode(self, fragment: str) -> str | None:
        return None if "\n" in fragment or "\r" in fragment else fragment


class Line(NamedTuple):
    """A logical line at `start:end` of the text, comments and blank lines left out."""

    start: int
    end: int


def logical_lines(text: str, comment: str = "#") -> Iterator[Line]:
    at, size = 0, len(text)
    while at < size:
        start = at
        newline = text.find("\n", at)
        alone = text[at : size if newline < 0 else newline]
        if "\\" not in alone:  # most lines are
            at = size if newline < 0 else newline + 1
            content = alone.strip()
            if content and content[0] not in comment:
                yield Line(start, start + len(alone.rstrip("\r")))
            continue
        while True:
            newline = text.find("\n", at)
            stop = size if newline < 0 else newline
            line = text[at:stop].rstrip("\r")
            following = min(stop + 1, size)
            stripped = line.lstrip()
            if at > start and stripped[:1] and stripped[0] in comment:  # a comment between continued lines
                at = following
                if at >= size:
                    break
                continue
            at = following
            if not line.rstrip(" \t").endswith("\\") or at >= size:
                break
        first = text[start : start + 400].lstrip()
        if first and first[0] not in comment and first.split("\n", 1)[0].strip():
            yield Line(start, start + len(text[start:at].rstrip("\r\n")))


def line_text(parent: Document | Text, start: int, end: int, codec: ContinuedCodec) -> Text:
    text = Text.of(parent, start, end, codec)
    assert text is not None  # a logical line reads every text
    return text
