"""Comments for preflight in files whose reader does not keep comments: all but launch files.

They are found by their spelling, and cover what stands below or before them by the layout of the text: a continued command, a
block of YAML, a list in brackets.
"""

from __future__ import annotations

from preflight.launch import LaunchSite, Reading
from preflight.suppressions import read_comments, with_context
from preflight.text import Document, Place, Span


def with_comments(document: Document, reading: Reading, *, indented: bool) -> Reading:
    """The reading with what comments say of it. `indented`: a block ends where the indentation does, as in YAML."""
    layout = _Layout(document, reading.sites, indented)
    written = _of_python(document) if document.path.endswith(".py") else None
    comments = read_comments(document, written, extent=layout.extent)
    sites = tuple(with_context(site, comments.context) for site in reading.sites)
    return Reading(sites, (*reading.problems, *comments.problems), (*reading.suppressions, *comments.suppressions))


def _of_python(document: Document) -> list[Span] | None:
    """The comments of a Python file, for its strings often hold text that looks like one; None where it cannot be told."""
    import io
    import tokenize

    found: list[Span] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(document.text, newline="").readline):
            if token.type == tokenize.COMMENT:
                start = document.lines.line_start(token.start[0]) + token.start[1]
                found.append(Span(start, start + len(token.string)))
    except (tokenize.TokenError, SyntaxError, ValueError, IndexError):
        return None
    return [span for span in found if document.text[span.start : span.start + 1] == "#"]


class _Layout:
    def __init__(self, document: Document, sites: tuple[LaunchSite, ...], indented: bool) -> None:
        self.document = document
        self.indented = indented
        self.starts: dict[int, int] = {}
        """By the line on which a launch starts, where it ends."""
        for site in sites:
            if site.extent is not None and site.extent.path == document.path:
                line = document.lines.position(site.extent.span.start)[0]
                self.starts[line] = max(self.starts.get(line, 0), site.extent.span.end)

    def extent(self, offset: int, below: bool) -> Place | None:
        """What `preflight.suppressions.Extent` asks for: the lines that belong together at `offset`."""
        line = self.document.lines.position(offset)[0]
        first = last = line
        if below:
            last = self._last(line)
        else:
            while first > 1 and self._continued(first - 1):
                first -= 1
        if first == last:
            return None
        return self.document.place(self.document.lines.line_start(first), self._end(last))

    def _last(self, line: int) -> int:
        if line in self.starts:
            return max(line, self.document.lines.position(max(self.starts[line] - 1, 0))[0])
        if self.indented and not self._continued(line):
            return self._block(line)
        while line < self.document.lines.line_count and self._continued(line):
            line += 1
        return line

    def _block(self, first: int) -> int:
        """The last line of the block that the line opens: what is indented more, and the items of its list."""
        written = self._text(first)
        indent = _indent(written)
        item = written.lstrip().startswith("-")
        last = first
        for line in range(first + 1, self.document.lines.line_count + 1):
            text = self._text(line)
            if not text.strip():
                continue
            below = _indent(text)
            if below < indent or (below == indent and (item or not text.lstrip().startswith("-"))):
                break
            last = line
        return last

    def _continued(self, line: int) -> bool:
        return self._text(line).endswith("\\")

    def _text(self, line: int) -> str:
        return self.document.text[self.document.lines.line_start(line) : self._end(line)].rstrip("\r\n")

    def _end(self, line: int) -> int:
        lines = self.document.lines
        return lines.line_start(line + 1) if line < lines.line_count else len(self.document.text)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))
