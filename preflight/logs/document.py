"""The lines of a log that are pointed at, as a document whose line numbers are those of the log."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from preflight.text import Document, LineIndex, Place, Span


class _Sparse(LineIndex):
    """Line numbers of the whole log over the text of some of its lines."""

    __slots__ = ("_numbers",)

    def __init__(self, text: str, numbers: list[int]) -> None:
        super().__init__(text)
        self._numbers = numbers

    def position(self, offset: int) -> tuple[int, int]:
        line, column = super().position(offset)
        return self._numbers[line - 1], column

    def line_start(self, line: int) -> int:
        index = bisect_left(self._numbers, line)
        return self._starts[index] if index < len(self._starts) else self._length

    def offset(self, line: int, column: int) -> int:
        return min(self.line_start(line) + column - 1, self._length)

    @property
    def line_count(self) -> int:
        return self._numbers[-1]


class LogDocument(Document):
    """A log by its excerpts: line number to text."""

    __slots__ = ("_numbers", "_places")

    def __init__(self, path: str, excerpts: Mapping[int, str]) -> None:
        numbers = sorted(excerpts) or [1]
        texts = [_one_line(excerpts.get(number, "")) for number in numbers]
        super().__init__(path, "\n".join(texts))
        self._numbers = numbers
        self._places: dict[int, Span] = {}
        at = 0
        for number, text in zip(numbers, texts, strict=True):
            self._places[number] = Span(at, at + len(text))
            at += len(text) + 1

    @property
    def lines(self) -> LineIndex:
        if self._lines is None:
            self._lines = _Sparse(self.text, self._numbers)
        return self._lines

    def place_of_line(self, number: int) -> Place:
        """A whole line; the first that is kept where it is not."""
        return Place(self, self._places.get(number, next(iter(self._places.values()))))


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def document_of(path: str, excerpts: Iterable[Mapping[int, str]]) -> LogDocument:
    return LogDocument(path, {number: text for some in excerpts for number, text in some.items()})
