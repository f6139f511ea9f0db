"""Where places stand, in lines and columns, for formats that programs read."""

from __future__ import annotations

from collections.abc import Mapping

from preflight.records import NamedTuple
from preflight.report.model import Report
from preflight.text import Document, Place


class Range(NamedTuple):
    """1-based lines and columns, columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


def range_of(document: Document, start: int, end: int) -> Range:
    return Range(*document.lines.position(start), *document.lines.position(end))


def range_at(place: Place) -> Range:
    return range_of(place.document, place.span.start, place.span.end)


def documents_of(report: Report) -> Mapping[str, Document]:
    """The documents that the report has places in, by path: what the edits of its fixes are located in."""
    documents: dict[str, Document] = {}
    for diagnostic in report.diagnostics:
        for place in (diagnostic.at, *(related.place for related in diagnostic.related)):
            documents.setdefault(place.path, place.document)
    return documents
