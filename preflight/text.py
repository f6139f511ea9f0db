"""Text with a way back: decoded strings that know which source characters they came from.

A flag may sit in JSON inside shell inside YAML. Each layer is a `Text`: a decoded string, the parent it was cut from, and
the `Codec` that decodes and encodes that layer. An edit is made only by replacing a part of a `Text`: the new raw text is
decoded again on every layer, and where it does not say what was meant, no edit is offered.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from preflight.records import NamedTuple

T = TypeVar("T")


class Span(NamedTuple):
    """Code-point offsets into `Document.text` (or into a parent `Text`), end exclusive."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace `span` of the document at `path` by `text`. Insertion: empty span; deletion: empty text."""

    path: str
    span: Span
    text: str


_LINE_END = re.compile(r"\r\n|\n|\r")


class LineIndex:
    """Line and column (1-based, code points) of an offset, for line ends `\\n`, `\\r\\n` and `\\r`."""

    __slots__ = ("_length", "_starts")

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._length = len(text)

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        return min(self._starts[line - 1] + column - 1, self._length)

    def line_start(self, line: int) -> int:
        return self._starts[line - 1]

    @property
    def line_count(self) -> int:
        return len(self._starts)


class Document:
    """One file: its path as given and its text, without a byte-order mark, line ends as they are."""

    __slots__ = ("_lines", "bom", "path", "text")

    def __init__(self, path: str, text: str, *, bom: bool = False) -> None:
        self.path = path
        self.text = text
        self.bom = bom
        self._lines: LineIndex | None = None

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Document:
        """Raises UnicodeDecodeError where the bytes are not UTF-8."""
        bom = data.startswith(b"\xef\xbb\xbf")
        return cls(path, (data[3:] if bom else data).decode("utf-8"), bom=bom)

    def to_bytes(self, text: str | None = None) -> bytes:
        return (b"\xef\xbb\xbf" if self.bom else b"") + (self.text if text is None else text).encode("utf-8")

    @property
    def lines(self) -> LineIndex:
        if self._lines is None:
            self._lines = LineIndex(self.text)
        return self._lines

    def place(self, start: int, end: int) -> Place:
        return Place(self, Span(start, end))


class Place(NamedTuple):
    """Where something stands: the document and its span in it."""

    document: Document
    span: Span

    @property
    def path(self) -> str:
        return self.document.path

    def key(self) -> tuple[str, int, int]:
        return self.document.path, self.span.start, self.span.end


class Located(NamedTuple, Generic[T]):
    """A value with its place as written, quotes included."""

    value: T
    place: Place


class Decoded(NamedTuple):
    """`value`, and for each of its characters where its raw form starts and ends in the raw text.

    `starts` has one entry more than `value`: where content ends. Without the arrays, character i is raw character
    i + `shift`.
    """

    value: str
    shift: int = 0
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None


class Codec(Protocol):
    """One layer of quoting or escaping."""

    def decode(self, raw: str) -> Decoded | None:
        """The text that `raw` stands for; None where `raw` is not of this layer's form."""

    def encode(self, fragment: str) -> str | None:
        """A raw spelling of `fragment` inside this layer; None where there is none.

        A codec may also have `respell(value)`: a raw spelling of a whole value, tried where `encode` does not do.
        """


class Verbatim:
    """The layer that changes nothing."""

    def decode(self, raw: str) -> Decoded | None:
        return Decoded(raw)

    def encode(self, fragment: str) -> str | None:
        return fragment


VERBATIM = Verbatim()


class Text:
    """A decoded string cut from `span` of `parent` (a Document, or a Text of the layer outside)."""

    __slots__ = ("_decoded", "codec", "parent", "span")

    def __init__(self, parent: Document | Text, span: Span, codec: Codec, decoded: Decoded) -> None:
        self.parent = parent
        self.span = span
        self.codec = codec
        self._decoded = decoded

    @classmethod
    def of(cls, parent: Document | Text, start: int, end: int, codec: Codec = VERBATIM) -> Text | None:
        """The text that `codec` reads at `start:end` of `parent`; None where it reads none."""
        raw = (parent.text if isinstance(parent, Document) else parent.value)[start:end]
        decoded = codec.decode(raw)
        return None if decoded is None else cls(parent, Span(start, end), codec, decoded)

    @property
    def value(self) -> str:
        return self._decoded.value

    @property
    def raw(self) -> str:
        """As written, in the parent."""
        parent = self.parent
        return (parent.text if isinstance(parent, Document) else parent.value)[self.span.start : self.span.end]

    @property
    def document(self) -> Document:
        parent = self.parent
        return parent if isinstance(parent, Document) else parent.document

    def inner(self, start: int, end: int, codec: Codec = VERBATIM) -> Text | None:
        """The text of a further layer at `start:end` of this one's value."""
        return Text.of(self, start, end, codec)

    def _outer_range(self, start: int, end: int) -> tuple[int, int]:
        """`start:end` of the value as a range of the parent's characters."""
        base, decoded = self.span.start, self._decoded
        if decoded.starts is None or decoded.ends is None:
            return base + decoded.shift + start, base + decoded.shift + end
        outer_start = decoded.starts[start]
        return base + outer_start, base + (decoded.ends[end - 1] if end > start else outer_start)

    def locate(self, offset: int) -> int:
        """The first character of the value whose raw form starts at or after `offset` of the raw text."""
        decoded = self._decoded
        if decoded.starts is None:
            return min(max(offset - decoded.shift, 0), len(decoded.value))
        return bisect_left(decoded.starts, offset, 0, len(decoded.value))

    @property
    def place(self) -> Place:
        """The whole of it in the document, quotes included."""
        if isinstance(self.parent, Document):
            return Place(self.parent, self.span)
        return self.parent.place_of(self.span.start, self.span.end)

    def place_of(self, start: int, end: int) -> Place:
        """The place of `start:end` of the value in the document."""
        outer_start, outer_end = self._outer_range(start, end)
        if isinstance(self.parent, Document):
            return Place(self.parent, Span(outer_start, outer_end))
        return self.parent.place_of(outer_start, outer_end)

    def replace(self, start: int, end: int, new: str) -> Edit | None:
        """The edit after which this text reads `value[:start] + new + value[end:]`, or None where none is sure to."""
        fragment = self.codec.encode(new)
        outer_start, outer_end = self._outer_range(start, end)
        if fragment is None or not self._reads(start, end, new, outer_start, outer_end, fragment):
            if start > 0 or end < len(self.value):
                return None
            respell = getattr(self.codec, "respell", None)  # another spelling of the whole: quotes where there were none
            fragment = respell(new) if respell is not None else None
            outer_start, outer_end = self.span
            if fragment is None or not self._reads(start, end, new, outer_start, outer_end, fragment):
                return None
        if isinstance(self.parent, Document):
            return Edit(self.parent.path, Span(outer_start, outer_end), fragment)
        return self.parent.replace(outer_start, outer_end, fragment)

    def _reads(self, start: int, end: int, new: str, outer_start: int, outer_end: int, fragment: str) -> bool:
        """Whether `fragment` at the outer range makes this text read as meant."""
        raw, base = self.raw, self.span.start
        changed = self.codec.decode(raw[: outer_start - base] + fragment + raw[outer_end - base :])
        return changed is not None and changed.value == self.value[:start] + new + self.value[end:]

    def replace_all(self, new: str) -> Edit | None:
        return self.replace(0, len(self.value), new)


def collide(edits: Sequence[Edit]) -> bool:
    """Whether two of the edits touch the same characters, or insert at the same place. An insertion at the border of another
    edit is beside it."""
    placed = sorted((edit.path, edit.span) for edit in edits)
    return any(
        path == other and (first.end > second.start or first == second) for (path, first), (other, second) in pairwise(placed)
    )


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """`text` with `edits` (of one document, none overlapping another) applied."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text
