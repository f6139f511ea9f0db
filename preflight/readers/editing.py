"""Adding flags to a launch and taking them out, in the syntax in which its words are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from preflight.launch import OPAQUE, Token
from preflight.readers.shellcodec import quote
from preflight.records import NamedTuple
from preflight.text import Edit, Text


class Container(Protocol):
    """A sequence of words as written: a shell command, a YAML or JSON list."""

    def insert(self, after: int, words: Sequence[str]) -> Edit | None:
        """Put `words` after word number `after`."""

    def delete(self, first: int, last: int) -> Edit | None:
        """Take out words `first` to `last`, inclusive."""


class Slot(NamedTuple):
    container: Container
    number: int


class Argument(NamedTuple):
    """A word of a command with the places where it can be taken out (`slot`) and something put after it (`tail`).

    `origin` is the script and word it was read from, for a word that holds a script itself.
    """

    token: Token
    slot: Slot | None
    tail: Slot | None
    origin: object = None


class ShellWords:
    """Words between blanks in a text of shell (or of anything split like it)."""

    __slots__ = ("ranges", "text")

    def __init__(self, text: Text, ranges: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.ranges = ranges

    def insert(self, after: int, words: Sequence[str]) -> Edit | None:
        end = self.ranges[after][1]
        joined = " ".join(quote(word) for word in words)
        return self.text.replace(end, end, self._separator(after, len(words)) + joined)

    def _separator(self, after: int, count: int) -> str:
        """How the words before are set apart: blanks, or a continuation with its indent where each flag has its own line."""
        value = self.text.value
        for index in range(after, max(after - 2, 0), -1):
            gap = value[self.ranges[index - 1][1] : self.ranges[index][0]]
            if re.fullmatch(r"[ \t]*\\\r?\n[ \t]*", gap) or re.fullmatch(r"[ \t]*\r?\n[ \t]*", gap):
                return gap if gap[0] in " \t\n\r" else " " + gap
        return " "

    def delete(self, first: int, last: int) -> Edit | None:
        end = self.ranges[last][1]
        if first > 0:
            return self.text.replace(self.ranges[first - 1][1], end, "")
        if last + 1 < len(self.ranges):
            return self.text.replace(self.ranges[first][0], self.ranges[last + 1][0], "")
        return self.text.replace(self.ranges[first][0], end, "")


class SlotEditor:
    """The editor of a launch whose words may stand in several containers."""

    __slots__ = ("anchor", "arguments")

    def __init__(self, anchor: Slot | None, arguments: Sequence[Argument]) -> None:
        self.anchor = anchor
        self.arguments = arguments

    def insert(self, flag: str, values: Sequence[str]) -> Edit | None:
        words = [flag, *values]
        for index in range(len(self.arguments) - 1, -1, -1):
            argument = self.arguments[index]
            if argument.tail is not None and argument.token.state != OPAQUE and self._separable(index):
                return argument.tail.container.insert(argument.tail.number, words)
        if self.anchor is None or not self._flag_at(0):
            return None
        return self.anchor.container.insert(self.anchor.number, words)

    def _flag_at(self, index: int) -> bool:
        """Whether a flag (or the end) is at `index`, so that something may stand before it."""
        if index >= len(self.arguments):
            return True
        token = self.arguments[index].token
        return token.state == OPAQUE or token.text.startswith("-")

    def _separable(self, index: int) -> bool:
        """Whether something may stand between this argument and the next."""
        if not self._flag_at(index + 1):
            return False
        if index + 1 == len(self.arguments) or self.arguments[index + 1].token.state != OPAQUE:
            return True
        text = self.arguments[index].token.text  # a bare flag may take its value from what follows
        return not text.startswith("-") or "=" in text

    def delete(self, first: int, last: int) -> Edit | None:
        slots = [argument.slot for argument in self.arguments[first : last + 1]]
        if not slots or slots[0] is None:
            return None
        container, start = slots[0]
        for offset, slot in enumerate(slots):
            if slot is None or slot.container is not container or slot.number != start + offset:
                return None
        return container.delete(start, start + len(slots) - 1)


class NoEditor:
    """For launches that can be shown, not edited."""

    def insert(self, flag: str, values: Sequence[str]) -> Edit | None:
        return None

    def delete(self, first: int, last: int) -> Edit | None:
        return None
