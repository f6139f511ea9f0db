"""SARIF 2.1.0 as GitHub code scanning reads it, with the fixes that viewers read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote

from preflight.diagnostics import DISPLAY, Diagnostic, Fix, Rule
from preflight.records import NamedTuple
from preflight.report.fingerprint import fingerprints
from preflight.report.json_text import dumps
from preflight.report.model import Options, Report
from preflight.report.paths import in_repository
from preflight.report.ranges import Range, documents_of, range_at, range_of
from preflight.text import Document, Place
from preflight.version import VERSION

MAX_RESULTS = 25_000
"""More in one run, and GitHub refuses the upload."""
MAX_TEXT = 1024

TAGS = {
    "MEM": "memory",
    "UNT": "units",
    "COM": "collectives",
    "PAR": "parallelism",
    "ATT": "attention",
    "GRF": "cuda-graphs",
    "SPC": "speculative-decoding",
    "MOE": "experts",
    "QNT": "quantization",
    "LOR": "adapters",
    "FLG": "flags",
    "ENV": "environment",
    "VER": "versions",
    "CAP": "capacity",
    "OBS": "observations",
    "DRF": "drift",
    "CFG": "configuration",
}
PROBLEM_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}


class Description(NamedTuple):
    """What a rule says of itself: one line, one paragraph, and its whole documentation as Markdown."""

    short: str
    full: str
    markdown: str


def render(report: Report, options: Options) -> str:
    return dumps(tree(report, options))


def tree(report: Report, options: Options) -> dict[str, object]:
    kept = _most_severe(report.diagnostics)
    rules = {diagnostic.rule.code: diagnostic.rule for diagnostic in sorted(kept, key=lambda each: each.rule.code)}
    indices = {code: index for index, code in enumerate(rules)}
    documents = documents_of(report)
    run: dict[str, object] = {
        "tool": {
            "driver": {
                "name": "preflight",
                "semanticVersion": VERSION,
                "rules": [rule_tree(rule, options) for rule in rules.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            result_tree(diagnostic, indices[diagnostic.rule.code], fingerprint, documents, options.root)
            for diagnostic, fingerprint in zip(kept, fingerprints(kept, options.root), strict=True)
        ],
    }
    if len(kept) < len(report.diagnostics):
        missing = len(report.diagnostics) - len(kept)
        text = f"Left out of this run, which holds at most {MAX_RESULTS:,} results: {missing:,}."
        notification = {"level": "warning", "message": {"text": text}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notification]}]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _most_severe(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """As many as a run holds, the least severe left out, in their order."""
    if len(diagnostics) <= MAX_RESULTS:
        return diagnostics
    ranked = sorted(range(len(diagnostics)), key=lambda index: -diagnostics[index].severity)
    return tuple(diagnostics[index] for index in sorted(ranked[:MAX_RESULTS]))


def rule_tree(rule: Rule, options: Options) -> dict[str, object]:
    words = rule.name.replace("-", " ")
    description = options.describe(rule.code) if options.describe is not None else Description(words, words, words)
    level = rule.severity.word
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _short(description.short or words)},
        "fullDescription": {"text": _short(description.full or description.short or words)},
        "help": {"text": description.markdown or words, "markdown": description.markdown or words},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["llm-serving", TAGS.get(rule.code.rstrip("0123456789"), "other")],
            "precision": "high",
            "problem.severity": PROBLEM_SEVERITIES[level],
        },
    }


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def result_tree(
    diagnostic: Diagnostic, index: int, fingerprint: str, documents: Mapping[str, Document], root: str | None
) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": diagnostic.rule.code,
        "ruleIndex": index,
        "level": diagnostic.severity.word,
        "message": {"text": diagnostic.message},
        "locations": [{"physicalLocation": physical(diagnostic.at, root)}],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": related.label}, "physicalLocation": physical(related.place, root)}
            for number, related in enumerate(diagnostic.related, 1)
        ]
    fixes = [fix for fix in diagnostic.fixes if fix.applicability != DISPLAY and all(e.path in documents for e in fix.edits)]
    if fixes:
        result["fixes"] = [fix_tree(fix, documents, root) for fix in fixes]
    if diagnostic.stage is not None:
        result["properties"] = {"stage": diagnostic.stage}
    return result


def fix_tree(fix: Fix, documents: Mapping[str, Document], root: str | None) -> dict[str, object]:
    changes = []
    for path in dict.fromkeys(edit.path for edit in fix.edits):
        replacements = [
            {
                "deletedRegion": region(range_of(documents[path], *edit.span)),
                "insertedContent": {"text": edit.text},
            }
            for edit in fix.edits
            if edit.path == path
        ]
        changes.append({"artifactLocation": {"uri": uri(path, root)}, "replacements": replacements})
    return {
        "description": {"text": fix.title},
        "artifactChanges": changes,
        "properties": {"applicability": fix.applicability},
    }


def physical(place: Place, root: str | None) -> dict[str, object]:
    return {"artifactLocation": {"uri": uri(place.path, root)}, "region": region(range_at(place))}


def region(place: Range) -> dict[str, object]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def uri(path: str, root: str | None) -> str:
    """A relative reference; a path that is absolute still becomes a file URI."""
    relative = in_repository(path, root)
    quoted = quote(_path_bytes(relative))
    if os.path.isabs(relative):
        return f"file://{'' if quoted.startswith('/') else '/'}{quoted}"
    return quoted


def _path_bytes(path: str) -> bytes:
    """The bytes of a path; half a character, which no file system has, is passed on as it is."""
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
