"""What tells a finding from others, and stays the same while lines move."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from preflight.diagnostics import Diagnostic
from preflight.report.model import line_at
from preflight.report.paths import in_repository


def fingerprints(diagnostics: Iterable[Diagnostic], root: str | None) -> Iterator[str]:
    """For each: a hash of code, path and line text without spaces, then `:n` for the n-th of that hash."""
    seen: dict[str, int] = {}
    for diagnostic in diagnostics:
        document = diagnostic.at.document
        line = line_at(document, document.lines.position(diagnostic.at.span.start)[0])
        parts = (diagnostic.rule.code, in_repository(diagnostic.at.path, root), "".join(line.split()))
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] = seen.get(digest, 0) + 1
        yield f"{digest}:{seen[digest]}"
