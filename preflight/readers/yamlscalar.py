"""The five spellings of a YAML scalar, in both directions: each character of the value knows its raw text.

Checked against PyYAML in the tests. What this module cannot read exactly has no places inside and cannot be edited.
"""

from __future__ import annotations

import json
import re

from preflight.text import Decoded

_BREAKS = re.compile(r"[ \t]*(?:\r\n|\n|\r)(?:[ \t]*(?:\r\n|\n|\r))*[ \t]*")
_BREAK = re.compile(r"\r\n|\n|\r")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_NUMBER = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_LINE_ESCAPE = re.compile(r"\\(?:\r\n|\n|\r)(?:[ \t]*(?:\r\n|\n|\r))*[ \t]*")
_HEADER = re.compile(r"([|>])([+-]?[1-9]?[+-]?)[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_UNPLAIN_START = re.compile(r"[-?:](?:\s|\Z)|[,\[\]{}#&*!|>'\"%@`]")
_UNPLAIN = re.compile(r":(?:\s|\Z)| #|[\r\n]|\A\s|\s\Z")
_UNPLAIN_FLOW = re.compile(r"[,\[\]{}]")
_TYPED = re.compile(
    r"(?:~|null|true|false|yes|no|on|off|y|n|\.inf|\.nan|[-+]?\.inf|[-+]?[0-9][0-9_,.:eExXoa-fA-F+-]*|[-+]?\.[0-9]\S*|=|<<|)\Z",
    re.I,
)


def looks_typed(text: str) -> bool:
    """Whether a plain scalar of this text is perhaps no string, under YAML 1.1 or 1.2."""
    return _TYPED.match(text) is not None


class _Builder:
    __slots__ = ("ends", "starts", "values")

    def __init__(self) -> None:
        self.values: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def same(self, raw: str, start: int, end: int) -> None:
        """Characters that stand for themselves."""
        self.values.append(raw[start:end])
        self.starts.extend(range(start, end))
        self.ends.extend(range(start + 1, end + 1))

    def one(self, value: str, start: int, end: int) -> None:
        """`value` for all of a raw range."""
        self.values.append(value)
        self.starts.extend([start] * len(value))
        self.ends.extend([end] * len(value))

    def done(self, content_end: int) -> Decoded:
        return Decoded("".join(self.values), 0, [*self.starts, content_end], self.ends)


def _folded(raw: str, start: int, end: int, out: _Builder) -> None:
    """Flow lines: one line end is a blank, n are n - 1."""
    at = start
    for match in _BREAKS.finditer(raw, start, end):
        out.same(raw, at, match.start())
        count = len(_BREAK.findall(match.group()))
        out.one(" " if count == 1 else "\n" * (count - 1), match.start(), match.end())
        at = match.end()
    out.same(raw, at, end)


class ScalarCodec:
    """A scalar of a document.

    `flow`: inside `[ ]` or `{ }`. `text`: what stands there now is a string, and must stay one. `ends_line`: a block whose
    last line end belongs to it, and must stay.
    """

    __slots__ = ("ends_line", "flow", "indent", "text")

    def __init__(self, indent: int, *, flow: bool = False, text: bool = True, ends_line: bool = False) -> None:
        self.ends_line = ends_line
        self.indent = indent
        self.flow = flow
        self.text = text

    # -- reading -----------------------------------------------------------------------------------------------------------

    def decode(self, raw: str) -> Decoded | None:
        first = raw[:1]
        if first == '"':
            return self._double(raw)
        if first == "'":
            return self._single(raw)
        if first in ("|", ">"):
            return self._block(raw)
        return self._plain(raw)

    def _plain(self, raw: str) -> Decoded | None:
        folded = _Builder()
        _folded(raw, 0, len(raw), folded)
        value = folded.done(len(raw))
        one_line = _BREAK.sub(" ", raw)
        if _UNPLAIN_START.match(raw) and not re.match(r"[-?:][^\s]", raw):
            return None
        if _UNPLAIN.search(one_line) or (self.flow and _UNPLAIN_FLOW.search(raw)) or (self.text and looks_typed(raw)):
            return None
        return value

    def _single(self, raw: str) -> Decoded | None:
        if len(raw) < 2 or raw[-1] != "'":
            return None
        out = _Builder()
        at, end = 1, len(raw) - 1
        while at < end:
            quote = raw.find("'", at, end)
            if quote < 0:
                quote = end
            _folded(raw, at, quote, out)
            if quote < end:
                if raw[quote + 1 : quote + 2] != "'" or quote + 1 >= end:
                    return None
                out.one("'", quote, quote + 2)
                quote += 2
            at = quote
        return out.done(end)

    def _double(self, raw: str) -> Decoded | None:
        if len(raw) < 2 or raw[-1] != '"':
            return None
        out = _Builder()
        at, end = 1, len(raw) - 1
        while at < end:
            escape = raw.find("\\", at, end)
            stop = end if escape < 0 else escape
            if raw.find('"', at, stop) >= 0:
                return None
            _folded(raw, at, stop, out)
            if stop == end:
                return out.done(end)
            at = self._escape(raw, stop, end, out)
            if at < 0:
                return None
        return out.done(end) if at == end else None

    @staticmethod
    def _escape(raw: str, at: int, end: int, out: _Builder) -> int:
        line = _LINE_ESCAPE.match(raw, at, end)
        if line is not None:
            count = len(_BREAK.findall(line.group()))
            if count > 1:
                out.one("\n" * (count - 1), at, line.end())
            return line.end()
        number = _NUMBER.match(raw, at + 1, end)
        if number is not None:
            code = int(number.group(1) or number.group(2) or number.group(3), 16)
            if code > 0x10FFFF:
                return -1
            out.one(chr(code), at, number.end())
            return number.end()
        value = _ESCAPES.get(raw[at + 1 : at + 2]) if at + 1 < end else None
        if value is None:
            return -1
        out.one(value, at, at + 2)
        return at + 2

    def _block(self, raw: str) -> Decoded | None:
        header = _HEADER.match(raw)
        if header is None or (self.ends_line and not raw.endswith(("\n", "\r"))):
            return None
        folds = header.group(1) == ">"
        keep, strip = "+" in header.group(2), "-" in header.group(2)
        out = _Builder()
        at, size, indent = header.end(), len(raw), self.indent
        start, at = self._blank_lines(raw, at)
        breaks = [start, at]  # blank lines not yet written
        content_end, line_break = at, (at, at)
        first, previous_more = True, False
        while at < size:
            if raw[at : at + indent] != " " * indent:
                return None
            line = at + indent
            matched = _BREAK.search(raw, line)
            stop, following = (matched.start(), matched.end()) if matched else (size, size)
            more = raw[line : line + 1] in (" ", "\t")
            if first:
                if raw[line : line + 1] == " " and not header.group(2).strip("+-"):
                    return None  # the indent would be taken from this line
                self._newlines(raw, breaks[0], breaks[1], out)
            else:
                joined = folds and not previous_more and not more
                inner_breaks = _BREAK.findall(raw[breaks[0] : breaks[1]])
                end = breaks[1] + indent
                if joined and not inner_breaks:
                    out.one(" ", line_break[0], end)
                elif joined:
                    out.one("\n" * len(inner_breaks), line_break[0], end)
                else:
                    out.one("\n", line_break[0], line_break[1] if inner_breaks else end)
                    self._newlines(raw, breaks[0], breaks[1], out)
            out.same(raw, line, stop)
            first, previous_more = False, more
            content_end, line_break = stop, (stop, following)
            start, at = self._blank_lines(raw, following)
            breaks = [start, at]
        if first:
            return None  # no content: the indent cannot be told
        if not strip and line_break[1] > line_break[0]:
            out.one("\n", *line_break)
            if keep:
                self._newlines(raw, breaks[0], breaks[1], out)
        return out.done(content_end)

    def _blank_lines(self, raw: str, at: int) -> tuple[int, int]:
        """The run of lines at `at` that hold no more than the indent."""
        start = at
        while at < len(raw):
            spaces = at
            while spaces < len(raw) and spaces - at < self.indent and raw[spaces] == " ":
                spaces += 1
            matched = _BREAK.match(raw, spaces)
            if matched is None:
                if spaces == len(raw):
                    at = spaces
                break
            at = matched.end()
        return start, at

    @staticmethod
    def _newlines(raw: str, start: int, end: int, out: _Builder) -> None:
        for matched in _BREAK.finditer(raw, start, end):
            out.one("\n", matched.start(), matched.end())

    # -- writing -----------------------------------------------------------------------------------------------------------

    def spelled(self, style: str | None) -> ScalarWriter:
        """The codec that writes in the style at hand."""
        return ScalarWriter(self, style)


class ScalarWriter:
    """A `ScalarCodec` with the style of the scalar at hand: `None` plain, `'`, `"`, `|`, `>`."""

    __slots__ = ("codec", "style")

    def __init__(self, codec: ScalarCodec, style: str | None) -> None:
        self.codec = codec
        self.style = style

    def decode(self, raw: str) -> Decoded | None:
        return self.codec.decode(raw)

    def encode(self, fragment: str) -> str | None:
        if self.style == "'":
            return None if "\n" in fragment else fragment.replace("'", "''")
        if self.style == '"':
            return escaped(fragment)
        if self.style == "|":
            return fragment.replace("\n", "\n" + " " * self.codec.indent)
        if self.style == ">":
            return None if "\n" in fragment else fragment
        return None if "\n" in fragment else fragment

    def respell(self, value: str) -> str | None:
        return quoted(value) if self.style is None else None


def escaped(fragment: str) -> str:
    """`fragment` inside double quotes."""
    return json.dumps(fragment, ensure_ascii=False)[1:-1].replace("\x7f", "\\x7f").replace("\x85", "\\N")


def quoted(fragment: str) -> str:
    return '"' + escaped(fragment) + '"'


def plain_or_quoted(fragment: str, *, flow: bool) -> str:
    """A scalar that reads as the string `fragment`."""
    codec = ScalarCodec(0, flow=flow)
    return fragment if "\n" not in fragment and codec.decode(fragment) is not None else quoted(fragment)
