"""The layers of a TOML file: strings, numbers and keys, decoded with the way back."""

from __future__ import annotations

import re

from preflight.text import Codec, Decoded, Document, Span, Text

_ESCAPE = (  # compiled where a string has one
    r"\\(?:(?P<line>[ \t]*\r?\n[ \t\r\n]*)|(?P<short>[btnfre\"\\])"
    r"|x(?P<x>[0-9A-Fa-f]{2})|u(?P<u>[0-9A-Fa-f]{4})|U(?P<U>[0-9A-Fa-f]{8}))"
    r"|(?P<crlf>\r\n)|(?P<bad>\\)"
)
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}
_LONG = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
NUMBER_TEXT = re.compile(
    r"(?:[+-]?(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?"
    r"|0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*|[+-]?(?:inf|nan))\Z"
)


def quoted(text: str) -> str:
    """A basic string that reads `text`."""
    return '"' + escaped(text) + '"'


def escaped(text: str) -> str:
    return "".join(_LONG.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04X}") for c in text)


def key_spelling(name: str) -> str:
    """`name` as a TOML key: bare where it may be."""
    return name if _BARE_KEY.match(name) else quoted(name)


def number_value(raw: str) -> str | None:
    """A TOML number as a program would be given it: decimal, without underscores; None where `raw` is no number."""
    if not NUMBER_TEXT.match(raw):
        return None
    digits = raw.replace("_", "")
    if digits[:2] in ("0x", "0o", "0b"):
        return str(int(digits, 0)) if len(digits) < 1000 else digits
    return digits.removeprefix("+")


class StringCodec:
    """A TOML string between `delimiter`s."""

    __slots__ = ("delimiter",)

    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter

    def decode(self, raw: str) -> Decoded | None:
        mark = self.delimiter
        size = len(mark)
        if len(raw) < 2 * size or not raw.startswith(mark) or not raw.endswith(mark):
            return None
        start, end = size, len(raw) - size
        body = raw[start:end]
        if not self._legal(body):
            return None
        if size == 3:
            start += 2 if body.startswith("\r\n") else body.startswith("\n")
        body = raw[start:end]
        escapes = mark[0] == '"'
        if not (escapes and "\\" in body) and "\r" not in body:
            return Decoded(body, start)
        return _decode_slowly(raw, start, end, escapes)

    def _legal(self, body: str) -> bool:
        if _ILLEGAL.search(body) or (len(self.delimiter) == 1 and "\n" in body):
            return False
        if self.delimiter[0] == '"' and "\\" in body:
            body = re.sub(r"\\.", "", body, flags=re.S)
        return self.delimiter not in body

    def encode(self, fragment: str) -> str | None:
        if self.delimiter == '"':
            return escaped(fragment)
        if self.delimiter == '"""':
            return "\n".join(escaped(line) for line in fragment.split("\n"))
        return fragment


def _decode_slowly(raw: str, start: int, end: int, escapes: bool) -> Decoded | None:
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def take(text: str, first: int, last: int) -> None:
        characters.append(text)
        starts.append(first)
        ends.append(last)

    at = start
    for match in re.compile(_ESCAPE).finditer(raw, start, end):
        if match["crlf"] is None and not escapes:
            continue
        for index in range(at, match.start()):
            take(raw[index], index, index + 1)
        at = match.end()
        if match["crlf"] is not None:
            take("\n", match.start(), at)
        elif match["short"] is not None:
            take(_SHORT[match["short"]], match.start(), at)
        elif match["bad"] is not None:
            return None
        elif match["line"] is None:
            code = int(match["x"] or match["u"] or match["U"], 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                return None
            take(chr(code), match.start(), at)
    for index in range(at, end):
        take(raw[index], index, index + 1)
    starts.append(end)
    return Decoded("".join(characters), 0, starts, ends)


_STRINGS = {mark: StringCodec(mark) for mark in ('"', "'", '"""', "'''")}


def string_codec(raw: str) -> StringCodec:
    return _STRINGS[raw[:3] if raw[:3] in ('"""', "'''") and len(raw) >= 6 else raw[:1]]


def _whole(value: str, raw: str) -> Decoded:
    """`value` stands for all of `raw`: its characters have no places of their own."""
    return Decoded(value, 0, [0] * len(value) + [len(raw)], [len(raw)] * len(value))


class NumberCodec:
    """A number as an argument. A text that is no number takes its place in quotes."""

    def decode(self, raw: str) -> Decoded | None:
        if raw[:1] in ('"', "'"):
            inner = string_codec(raw).decode(raw)
            return None if inner is None else _whole(inner.value, raw)
        value = number_value(raw)
        return None if value is None else _whole(value, raw)

    def encode(self, fragment: str) -> str | None:
        return fragment if number_value(fragment) == fragment else quoted(fragment)


class KeyCodec:
    """A key: bare or quoted."""

    def decode(self, raw: str) -> Decoded | None:
        if raw[:1] in ('"', "'"):
            return StringCodec(raw[0]).decode(raw)
        return Decoded(raw) if _BARE_KEY.match(raw) else None

    def encode(self, fragment: str) -> str | None:
        return fragment if _BARE_KEY.match(fragment) else None


class FlagCodec:
    """A key of [flags] as the flag it stands for: `tp_size` reads `--tp-size`."""

    __slots__ = ("snake",)

    def __init__(self, snake: bool) -> None:
        self.snake = snake

    def decode(self, raw: str) -> Decoded | None:
        key = KEY.decode(raw)
        return None if key is None else _whole(flag_of(key.value), raw)

    def encode(self, fragment: str) -> str | None:
        name = fragment.removeprefix("--")
        return key_spelling(name.replace("-", "_") if self.snake else name)


class FixedCodec:
    """A value read at a place which cannot be edited: all of the place stands for it."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def decode(self, raw: str) -> Decoded | None:
        return _whole(self.value, raw)

    def encode(self, fragment: str) -> str | None:
        return None


KEY, NUMBER, KEBAB_FLAG, SNAKE_FLAG = KeyCodec(), NumberCodec(), FlagCodec(False), FlagCodec(True)


def flag_of(key: str) -> str:
    """The flag that a key of [flags] stands for."""
    return "--" + key.lstrip("-").replace("_", "-")


def fixed(document: Document, span: Span, value: str) -> Text:
    """`value` as a text that stands at `span` and cannot be edited."""
    codec: Codec = FixedCodec(value)
    return Text(document, span, codec, _whole(value, document.text[span.start : span.end]))
