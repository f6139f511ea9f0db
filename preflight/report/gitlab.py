"""A GitLab code quality report."""

from __future__ import annotations

from preflight.diagnostics import ERROR, NOTE, WARNING
from preflight.report.fingerprint import fingerprints
from preflight.report.json_text import dumps
from preflight.report.model import Options, Report
from preflight.report.paths import in_repository
from preflight.report.ranges import range_at

SEVERITIES = {ERROR: "critical", WARNING: "major", NOTE: "info"}


def render(report: Report, options: Options) -> str:
    entries = []
    for diagnostic, fingerprint in zip(report.diagnostics, fingerprints(report.diagnostics, options.root), strict=True):
        place = range_at(diagnostic.at)
        rule = diagnostic.rule
        entries.append(
            {
                "description": f"{rule.code} {rule.name}: {diagnostic.message}",
                "check_name": rule.code,
                "fingerprint": fingerprint,
                "severity": SEVERITIES[diagnostic.severity],
                "location": {
                    "path": in_repository(diagnostic.at.path, options.root),
                    "lines": {"begin": place.line, "end": place.end_line},
                },
            }
        )
    return dumps(entries)
