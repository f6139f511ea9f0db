"""One line per finding: `path:line:col: severity CODE name: message`."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.diagnostics import ERROR, NOTE, WARNING, Diagnostic
from preflight.report.escape import escape
from preflight.report.model import Options, Report

RESET = "\x1b[0m"
COLORS = {ERROR: "\x1b[1;31m", WARNING: "\x1b[1;33m", NOTE: "\x1b[1;36m"}


def line_of(diagnostic: Diagnostic, *, color: bool) -> str:
    """The line that problem matchers read: nothing but the severity is coloured."""
    line, column = diagnostic.at.document.lines.position(diagnostic.at.span.start)
    word = diagnostic.severity.word
    if color:
        word = f"{COLORS[diagnostic.severity]}{word}{RESET}"
    rule = diagnostic.rule
    return f"{escape(diagnostic.at.path)}:{line}:{column}: {word} {rule.code} {rule.name}: {escape(diagnostic.message)}"


def shown(report: Report, options: Options) -> Iterator[Diagnostic]:
    """What formats for people print: errors and warnings, notes on demand."""
    return (diagnostic for diagnostic in report.diagnostics if options.notes or diagnostic.severity is not NOTE)


def render(report: Report, options: Options) -> str:
    lines = [line_of(diagnostic, color=options.color) for diagnostic in shown(report, options)]
    if options.statistics:
        from preflight.report.statistics import table

        lines += table(report)
    return "".join(f"{line}\n" for line in lines)
