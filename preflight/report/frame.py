"""A source line with its place underlined, whatever stands in it: tabs, wide characters, control characters, very long lines."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.records import NamedTuple
from preflight.report.escape import escape_char
from preflight.report.model import line_at
from preflight.text import Place

TAB = 4
ELLIPSIS = "…"


class Frame(NamedTuple):
    """`source` is shown under `number`; the underline starts `indent` columns in and is `length` long."""

    number: int
    source: str
    indent: int
    length: int


def cells(line: str) -> list[tuple[str, int]]:
    """What each character of a line is shown as, and how many columns of a terminal that takes."""
    shown: list[tuple[str, int]] = []
    column = 0
    for char in line:
        if char == "\t":
            width = TAB - column % TAB
            cell = (" " * width, width)
        elif " " <= char <= "~":
            cell = (char, 1)
        elif char.isprintable():
            cell = (char, _width(char))
        else:
            text = escape_char(char)
            cell = (text, len(text))
        shown.append(cell)
        column += cell[1]
    return shown


def _width(char: str) -> int:
    """Columns of a printable character: 0 for marks that sit on the one before, 2 for wide ones (emoji, CJK)."""
    import unicodedata  # only lines that are not ASCII need it

    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def frame(place: Place, width: int) -> Frame:
    """The first line of `place`, cut to about `width` columns around its start."""
    number, column = place.document.lines.position(place.span.start)
    line = line_at(place.document, number)
    first = min(column - 1, len(line))
    # A place of several lines is underlined to the end of its first; an empty one (or a line end) gets one caret.
    last = max(min(first + place.span.end - place.span.start, len(line)), first)
    shown = cells(line)
    start, end = _window(shown, first, max(width, 20))
    before, under = shown[start:first], shown[first : min(last, end)]
    source = "".join(text for text, _ in shown[start:end])
    cut = ELLIPSIS if start else ""
    return Frame(
        number,
        f"{cut}{source}{ELLIPSIS if end < len(shown) else ''}".rstrip(),
        len(cut) + sum(columns for _, columns in before),
        max(sum(columns for _, columns in under), 1),
    )


def _window(shown: Sequence[tuple[str, int]], first: int, width: int) -> tuple[int, int]:
    """The part of a line that is shown: all of it, or `width` columns with a third of them before `first`."""
    if sum(columns for _, columns in shown) <= width:
        return 0, len(shown)
    start, room = first, width // 3
    while start > 0 and shown[start - 1][1] <= room:
        start -= 1
        room -= shown[start][1]
    end, room = start, width
    while end < len(shown) and shown[end][1] <= room:
        room -= shown[end][1]
        end += 1
    return start, end
