"""Annotations on a pull request: the workflow commands `::error`, `::warning` and `::notice`."""

from __future__ import annotations

from preflight.diagnostics import ERROR, NOTE, WARNING, Diagnostic
from preflight.report.escape import escape
from preflight.report.model import Options, Report
from preflight.report.paths import in_repository
from preflight.report.ranges import range_at

COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}


def render(report: Report, options: Options) -> str:
    """Errors first: of one step, only the first ten of a kind are shown."""
    worst_first = sorted(report.diagnostics, key=lambda diagnostic: -diagnostic.severity)
    return "".join(f"{annotation(diagnostic, options.root)}\n" for diagnostic in worst_first)


def annotation(diagnostic: Diagnostic, root: str | None) -> str:
    place = range_at(diagnostic.at)
    properties = {
        "title": f"{diagnostic.rule.code} {diagnostic.rule.name}",
        "file": in_repository(diagnostic.at.path, root),
        "line": str(place.line),
    }
    if place.line == place.end_line:  # columns of different lines are refused
        properties |= {"col": str(place.column), "endLine": str(place.end_line), "endColumn": str(place.end_column)}
    else:
        properties["endLine"] = str(place.end_line)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{COMMANDS[diagnostic.severity]} {listed}::{_data(diagnostic.message)}"


def _data(text: str) -> str:
    return escape(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
