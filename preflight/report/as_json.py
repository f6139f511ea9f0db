"""`lint --format json`: schema version 1, described by schemas/lint-output.schema.json."""

from __future__ import annotations

from collections.abc import Mapping

from preflight.diagnostics import ERROR, NOTE, WARNING, Diagnostic, Fix
from preflight.report.json_text import dumps, plain
from preflight.report.model import Options, Report, count, fixable
from preflight.report.ranges import Range, documents_of, range_at, range_of
from preflight.text import Document

SCHEMA_VERSION = 1


def render(report: Report, options: Options) -> str:
    return dumps(tree(report))


def tree(report: Report) -> dict[str, object]:
    documents = documents_of(report)
    return {
        "schema_version": SCHEMA_VERSION,
        "summary": {
            "files": report.files,
            "launches": report.launches,
            "errors": count(report, ERROR),
            "warnings": count(report, WARNING),
            "notes": count(report, NOTE),
            "fixable": sum(fixable(diagnostic) for diagnostic in report.diagnostics),
        },
        "diagnostics": [entry(diagnostic, documents) for diagnostic in report.diagnostics],
    }


def entry(diagnostic: Diagnostic, documents: Mapping[str, Document]) -> dict[str, object]:
    return {
        "code": diagnostic.rule.code,
        "rule": diagnostic.rule.name,
        "severity": diagnostic.severity.word,
        "stage": diagnostic.stage,
        "message": diagnostic.message,
        "path": diagnostic.at.path,
        "range": _range(range_at(diagnostic.at)),
        "related": [
            {"message": related.label, "path": related.place.path, "range": _range(range_at(related.place))}
            for related in diagnostic.related
        ],
        "data": plain(diagnostic.data),
        "url": None,
        "fixes": [tree_of_fix(fix, documents) for fix in diagnostic.fixes if all(edit.path in documents for edit in fix.edits)],
    }


def tree_of_fix(fix: Fix, documents: Mapping[str, Document]) -> dict[str, object]:
    return {
        "title": fix.title,
        "applicability": fix.applicability,
        "edits": [
            {"path": edit.path, "range": _range(range_of(documents[edit.path], *edit.span)), "new_text": edit.text}
            for edit in fix.edits
        ],
    }


def _range(place: Range) -> dict[str, object]:
    return {
        "start": {"line": place.line, "column": place.column},
        "end": {"line": place.end_line, "column": place.end_column},
    }
