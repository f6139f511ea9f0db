"""A JSON array of strings as words of a command (the exec form of a Dockerfile)."""

from __future__ import annotations

import re

from preflight.launch import Token
from preflight.readers.editing import Argument, Slot
from preflight.readers.listedit import FlowList
from preflight.readers.script import Script
from preflight.readers.yamlscalar import ScalarCodec, ScalarWriter
from preflight.text import Text

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_JSON = ScalarWriter(ScalarCodec(0), '"')


def array_arguments(text: Text, start: int, end: int) -> list[Argument] | None:
    """The strings of the array at `start:end`; None where there is none."""
    value = text.value
    at = start + 1
    if value[start : start + 1] != "[":
        return None
    ranges: list[tuple[int, int]] = []
    while True:
        at = _blanks(value, at, end)
        if value[at : at + 1] == "]" and at < end:
            break
        match = _STRING.match(value, at, end)
        if match is None:
            return None
        ranges.append(match.span())
        at = _blanks(value, match.end(), end)
        if value[at : at + 1] == ",":
            at += 1
        elif value[at : at + 1] != "]" or at >= end:
            return None
    container = FlowList(text, ranges, ['"'] * len(ranges), json_only=True)
    found = []
    for number, (first, last) in enumerate(ranges):
        inner = text.inner(first, last, _JSON)
        if inner is None:
            return None
        slot = Slot(container, number)
        found.append(Argument(Token(inner.value, inner, inner), slot, slot, Script(inner)))
    return found


_BLANK = re.compile(r"\s*")


def _blanks(value: str, at: int, end: int) -> int:
    match = _BLANK.match(value, at, end)
    return match.end() if match else at
