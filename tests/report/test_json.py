from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from preflight.diagnostics import UNSAFE, Diagnostic, Fix
from preflight.report.as_json import render
from preflight.report.model import Options, Report
from preflight.text import Document, Edit, Span
from tests.report.cases import BELOW, CLEAN, HOSTILE, LAUNCH, NO_REST, ODD, REPORT, at

SCHEMA = Path(__file__).parents[2] / "schemas" / "lint-output.schema.json"


def span(line: int, column: int, end_line: int, end_column: int) -> dict[str, object]:
    return {"start": {"line": line, "column": column}, "end": {"line": end_line, "column": end_column}}


def test_the_whole_report_with_notes() -> None:
    assert json.loads(render(REPORT, Options())) == {
        "schema_version": 1,
        "summary": {"files": 1, "launches": 1, "errors": 2, "warnings": 1, "notes": 1, "fixable": 2},
        "diagnostics": [
            {
                "code": "VER009",
                "rule": "version-newer-than-catalogue",
                "severity": "note",
                "stage": None,
                "message": "Version 0.5.9 is the first of the catalogue.",
                "path": "deploy/launch.toml",
                "range": span(2, 18, 2, 25),
                "related": [],
                "data": {},
                "url": None,
                "fixes": [],
            },
            {
                "code": "MEM001",
                "rule": "nonnegative-rest-memory",
                "severity": "error",
                "stage": "kv-sizing",
                "message": "mem-fraction-static 0.55 leaves -20.6 GiB for the KV cache: weights take 72.3 GiB of 94.0 GiB. "
                "Raise it to at least 0.77.",
                "path": "deploy/launch.toml",
                "range": span(6, 1, 6, 27),
                "related": [
                    {
                        "message": "the weights are split over 8 GPUs",
                        "path": "deploy/launch.toml",
                        "range": span(5, 1, 5, 12),
                    }
                ],
                "data": {"rest_gib": -20.603, "minimum": 0.7692},
                "url": None,
                "fixes": [
                    {
                        "title": "Raise mem-fraction-static to 0.845",
                        "applicability": "unsafe",
                        "edits": [{"path": "deploy/launch.toml", "range": span(6, 23, 6, 27), "new_text": "0.845"}],
                    }
                ],
            },
            {
                "code": "FLG001",
                "rule": "unknown-flag",
                "severity": "error",
                "stage": "arguments",
                "message": "--max-modellen is not a flag of sglang 0.5.9. Use --context-length.",
                "path": "deploy/launch.toml",
                "range": span(7, 1, 7, 20),
                "related": [],
                "data": {},
                "url": None,
                "fixes": [
                    {
                        "title": "Rename max-modellen to context-length",
                        "applicability": "safe",
                        "edits": [{"path": "deploy/launch.toml", "range": span(7, 1, 7, 13), "new_text": "context-length"}],
                    },
                    {"title": "Ask the author", "applicability": "display", "edits": []},
                ],
            },
            {
                "code": "ENV001",
                "rule": "unknown-environment-variable",
                "severity": "warning",
                "stage": "serving",
                "message": "sglang 0.5.9 does not read SGLANG_X. Remove it.",
                "path": "deploy/launch.toml",
                "range": span(10, 1, 10, 9),
                "related": [],
                "data": {},
                "url": None,
                "fixes": [],
            },
        ],
    }


def test_a_clean_report_has_its_counts() -> None:
    assert json.loads(render(CLEAN, Options())) == {
        "schema_version": 1,
        "summary": {"files": 2, "launches": 3, "errors": 0, "warnings": 0, "notes": 0, "fixable": 0},
        "diagnostics": [],
    }


def test_columns_count_code_points_after_emoji_and_crlf() -> None:
    document = Document("a.toml", "# 😀\r\nx = '😀' # 1\r\n", bom=True)
    report = Report((Diagnostic(BELOW, BELOW.severity, None, "m", at(document, "1")),), 1, 1)
    assert json.loads(render(report, Options()))["diagnostics"][0]["range"] == span(2, 11, 2, 12)


def test_output_is_ascii_json_whatever_the_text() -> None:
    text = render(ODD, Options())
    assert text.isascii()
    first, *_, last = json.loads(text)["diagnostics"]
    assert first["message"] == HOSTILE.message
    # A lone surrogate is no Unicode text, which strict readers refuse.
    assert last["path"] == "gone-\ufffd.toml"


def test_figures_that_are_not_finite_are_unknown() -> None:
    data = {"a": float("nan"), "b": float("inf"), "c": {"d": (1, float("-inf"))}, "e": {"y", "x"}, "f": Path("p")}
    report = Report((NO_REST._replace(data=data),), 1, 1)
    expected = {"a": None, "b": None, "c": {"d": [1, None]}, "e": ["x", "y"], "f": "p"}
    assert json.loads(render(report, Options()))["diagnostics"][0]["data"] == expected


def test_a_fix_in_another_file_of_the_report_is_located_there() -> None:
    other = Document("other.toml", "a = 1\nb = 2\n")
    fix = Fix("Set both", (Edit(LAUNCH.path, Span(0, 0), "#\n"), Edit("other.toml", Span(10, 11), "3")), UNSAFE)
    lost = Fix("Set elsewhere", (Edit("not-linted.toml", Span(0, 0), "x"),), UNSAFE)
    here = NO_REST._replace(fixes=(fix, lost))
    there = NO_REST._replace(at=at(other, "b = 2"), related=(), fixes=())
    fixes = json.loads(render(Report((here, there), 2, 2), Options()))["diagnostics"][0]["fixes"]
    assert [one["title"] for one in fixes] == ["Set both"]
    assert [one["range"] for one in fixes[0]["edits"]] == [span(1, 1, 1, 1), span(2, 5, 2, 6)]


@pytest.mark.skipif(not SCHEMA.is_file(), reason="schemas/lint-output.schema.json is not there yet")
@pytest.mark.parametrize("report", [REPORT, CLEAN, ODD])
def test_output_matches_its_schema(report: Report) -> None:
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(render(report, Options())))
