"""Python values as logs print them: `ServerArgs(a=1, b=Nested(c='x'))`, `{'a': 1}`, and lines that were cut."""

from __future__ import annotations

import re
from typing import Any

_DEEPEST = 24
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
_BARE = re.compile(r"[^,(){}\[\]'\"=:]+")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
_ENUM = re.compile(r"<[\w.]+: ('[^']*'|\"[^\"]*\"|-?\d+)>")
_OPAQUE = re.compile(r"<[^<>]*>")
_WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""}


class Cut(Exception):
    """The text ends inside a value."""


def fields_of(text: str, start: int, closing: str | None = ")") -> tuple[dict[str, Any], bool]:
    """`name=value, …` from `start` on, to `closing` (None: to the end). The second part: whether the whole was there."""
    reader = _Reader(text, start)
    found: dict[str, Any] = {}
    try:
        reader.fields(found, closing, 0)
    except Cut:
        return found, False
    return found, True


def mapping_of(text: str, start: int) -> tuple[dict[str, Any], bool]:
    """The `{'name': value, …}` that starts at `start`; a cut one as far as it goes."""
    reader = _Reader(text, start + 1)
    found: dict[Any, Any] = {}
    try:
        reader.mapping(found, 0)
    except Cut:
        return {str(key): value for key, value in found.items()}, False
    return {str(key): value for key, value in found.items()}, True


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def peek(self) -> str:
        text = self.text
        while self.at < len(text) and text[self.at] in " \t":
            self.at += 1
        if self.at >= len(text):
            raise Cut
        return text[self.at]

    def fields(self, found: dict[str, Any], closing: str | None, depth: int) -> None:
        """Positional values get their number as a name."""
        while True:
            if closing is None and not self.text[self.at :].strip():
                return
            if self.peek() == closing:
                self.at += 1
                return
            key = _KEY.match(self.text, self.at)
            name = str(len(found)) if key is None else key[1]
            self.at = self.at if key is None else key.end()
            found[name] = self._whole(depth, closing is None)
            self.comma()

    def mapping(self, found: dict[Any, Any], depth: int) -> None:
        while self.peek() != "}":
            key = self.value(depth + 1)
            if self.peek() != ":":  # a set
                found[_hashable(key)] = None
            else:
                self.at += 1
                found[_hashable(key)] = self._whole(depth, False)
            self.comma()
        self.at += 1

    def _whole(self, depth: int, open_end: bool) -> Any:
        """A value that something follows: a number at the cut end of a line may have lost digits."""
        value = self.value(depth + 1)
        if not open_end:
            self.peek()
        return value

    def comma(self) -> None:
        if self.at < len(self.text) and self.text[self.at] in " \t":
            try:
                self.peek()
            except Cut:
                return
        if self.at < len(self.text) and self.text[self.at] == ",":
            self.at += 1
        elif self.at < len(self.text) and self.text[self.at] not in ")}]":
            raise Cut  # not of this form: what was read stands

    def value(self, depth: int) -> Any:
        char = self.peek()
        if depth > _DEEPEST:
            raise Cut
        if char in "'\"":
            return self.string(char)
        if char in "bruBRU" and self.text[self.at + 1 : self.at + 2] in ("'", '"'):
            self.at += 1
            return self.string(self.text[self.at])
        if char == "{":
            self.at += 1
            found: dict[Any, Any] = {}
            self.mapping(found, depth)
            return found
        if char in "[(":
            return self.sequence("]" if char == "[" else ")", depth)
        return self.scalar(depth)

    def string(self, quote: str) -> str:
        parts: list[str] = []
        start = at = self.at + 1
        text = self.text
        while True:
            end = text.find(quote, at)
            if end < 0:
                raise Cut
            escape = text.find("\\", at, end)
            if escape < 0:
                parts.append(text[start:end])
                self.at = end + 1
                return "".join(parts)
            parts.append(text[start:escape])
            following = text[escape + 1 : escape + 2]
            parts.append(_ESCAPES.get(following, "\\" + following))
            start = at = escape + 2

    def sequence(self, closing: str, depth: int) -> Any:
        self.at += 1
        items = []
        while self.peek() != closing:
            items.append(self.value(depth + 1))
            self.comma()
        self.at += 1
        return items if closing == "]" else tuple(items)

    def scalar(self, depth: int) -> Any:
        text = self.text
        number = _NUMBER.match(text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number[0])
        if text[self.at] == "<":
            enum = _ENUM.match(text, self.at)
            opaque = enum or _OPAQUE.match(text, self.at)
            if opaque is None:
                raise Cut
            self.at = opaque.end()
            return enum[1].strip("'\"") if enum is not None else opaque[0]
        name = _NAME.match(text, self.at)
        if name is None:
            bare = _BARE.match(text, self.at)
            if bare is None:
                raise Cut
            self.at = bare.end()
            return bare[0].strip()
        self.at = name.end()
        if text[self.at : self.at + 1] == "(":
            self.at += 1
            found: dict[str, Any] = {}
            self.fields(found, ")", depth)
            return found["0"] if list(found) == ["0"] else found
        if name[0] in _WORDS:
            return _WORDS[name[0]]
        rest = _BARE.match(text, self.at)  # two words without quotes
        if rest is not None:
            self.at = rest.end()
        return text[name.start() : self.at].strip()


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    try:
        return int(plain) if len(plain) < 40 else float(plain)
    except ValueError:
        return float(plain)


def _hashable(key: Any) -> Any:
    return key if isinstance(key, str | int | float | bool | None) else repr(key)
