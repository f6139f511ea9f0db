"""What every format is given: the report, and how it is to be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from preflight.diagnostics import DISPLAY, SAFE, UNSAFE, Diagnostic, Fix, Severity
from preflight.records import NamedTuple
from preflight.text import Document

if TYPE_CHECKING:
    from preflight.report.sarif import Description


class Report(NamedTuple):
    """All that one run found: `diagnostics` sorted and without duplicates, over `files` files with `launches` launches."""

    diagnostics: tuple[Diagnostic, ...]
    files: int
    launches: int


class Options(NamedTuple):
    """How a report is shown. A format reads what concerns it.

    `width`: columns of a terminal, for cutting source lines. `root`: the repository root, to which SARIF, GitHub and GitLab
    want paths to be relative; without it they stay as given. `describe`: the documentation of a rule, by its code.
    """

    color: bool = False
    notes: bool = False
    statistics: bool = False
    width: int = 100
    root: str | None = None
    describe: Callable[[str], Description] | None = None


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted by place, code and message; of those that say the same at the same place, the worst."""
    best: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        key = diagnostic.sort_key()
        known = best.get(key)
        if known is None or diagnostic.severity > known.severity:
            best[key] = diagnostic
    return tuple(sorted(best.values(), key=Diagnostic.sort_key))


def count(report: Report, severity: Severity) -> int:
    return sum(diagnostic.severity is severity for diagnostic in report.diagnostics)


def offered_fix(diagnostic: Diagnostic, *applicabilities: str) -> Fix | None:
    """The first fix of the first of `applicabilities` that has one."""
    for applicability in applicabilities:
        for fix in diagnostic.fixes:
            if fix.applicability == applicability:
                return fix
    return None


def fixable(diagnostic: Diagnostic) -> bool:
    """Whether some switch applies a fix of it."""
    return offered_fix(diagnostic, SAFE, UNSAFE) is not None


FIX_SWITCH = {SAFE: "--fix", UNSAFE: "--fix --unsafe-fixes", DISPLAY: "shown only"}
"""What applies a fix, by its applicability."""


def line_at(document: Document, line: int) -> str:
    """The text of a line (1-based) without its line end."""
    lines = document.lines
    end = lines.line_start(line + 1) if line < lines.line_count else len(document.text)
    return document.text[lines.line_start(line) : end].rstrip("\r\n")
