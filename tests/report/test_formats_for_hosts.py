"""GitHub annotations, SARIF and GitLab reports."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from preflight.diagnostics import DISPLAY, ERROR, NOTE, Diagnostic, Fix, Severity
from preflight.report import github, gitlab, sarif
from preflight.report.describe import described
from preflight.report.model import Options, Report
from preflight.report.paths import repository_root
from preflight.report.sarif import Description
from preflight.text import Document, Place, Span
from preflight.version import VERSION
from tests.report.cases import BELOW, CLEAN, HOSTILE, LAUNCH, MANY_LINES, NO_REST, NO_TEXT, ODD, REPORT, REST, at, edit

NO_REST_TEXT = (
    "mem-fraction-static 0.55 leaves -20.6 GiB for the KV cache: weights take 72.3 GiB of 94.0 GiB. Raise it to at least 0.77."
)


def test_github_annotations_one_per_finding_errors_first() -> None:
    assert github.render(REPORT, Options()) == (
        "::error title=MEM001 nonnegative-rest-memory,file=deploy/launch.toml,line=6,col=1,endLine=6,endColumn=27"
        f"::{NO_REST_TEXT}\n"
        "::error title=FLG001 unknown-flag,file=deploy/launch.toml,line=7,col=1,endLine=7,endColumn=20"
        "::--max-modellen is not a flag of sglang 0.5.9. Use --context-length.\n"
        "::warning title=ENV001 unknown-environment-variable,file=deploy/launch.toml,line=10,col=1,endLine=10,endColumn=9"
        "::sglang 0.5.9 does not read SGLANG_X. Remove it.\n"
        "::notice title=VER009 version-newer-than-catalogue,file=deploy/launch.toml,line=2,col=18,endLine=2,endColumn=25"
        "::Version 0.5.9 is the first of the catalogue.\n"
    )


def test_github_escapes_message_and_properties() -> None:
    assert github.annotation(HOSTILE, None) == (
        "::warning title=CAP002 pool-below-context,file=a b%3A\\x1b[31m%0A.toml,line=1,col=6,endLine=1,endColumn=15"
        "::'\\x1b[2J%0D%0Aforged.toml:1:1: error MEM001 x: y' is 50%25 of \\u202ewhat, here."
    )


def test_github_leaves_out_columns_over_several_lines() -> None:
    assert github.annotation(MANY_LINES, None) == (
        "::warning title=CAP002 pool-below-context,file=deploy/launch.toml,line=5,endLine=6::Two lines."
    )


def test_clean_reports() -> None:
    assert github.render(CLEAN, Options()) == ""
    assert json.loads(gitlab.render(CLEAN, Options())) == []
    # Left out, the upload would fail.
    assert json.loads(sarif.render(CLEAN, Options()))["runs"][0]["results"] == []


def hash_of(code: str, path: str, line: str, repeat: int = 1) -> str:
    return hashlib.sha256(f"{code}\0{path}\0{line}".encode()).hexdigest()[:16] + f":{repeat}"


def test_gitlab_report() -> None:
    report = Report((NO_REST, MANY_LINES), 1, 1)
    assert json.loads(gitlab.render(report, Options())) == [
        {
            "description": f"MEM001 nonnegative-rest-memory: {NO_REST_TEXT}",
            "check_name": "MEM001",
            "fingerprint": hash_of("MEM001", "deploy/launch.toml", "mem-fraction-static=0.55"),
            "severity": "critical",
            "location": {"path": "deploy/launch.toml", "lines": {"begin": 6, "end": 6}},
        },
        {
            "description": "CAP002 pool-below-context: Two lines.",
            "check_name": "CAP002",
            "fingerprint": hash_of("CAP002", "deploy/launch.toml", "tp-size=8"),
            "severity": "major",
            "location": {"path": "deploy/launch.toml", "lines": {"begin": 5, "end": 6}},
        },
    ]


# What GitLab reads of an entry, from its documentation ("Code Quality report format") as of 2026.
GITLAB_SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}, "end": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize("report", [REPORT, CLEAN, ODD])
def test_gitlab_report_is_what_gitlab_reads(report: Report) -> None:
    entries = json.loads(gitlab.render(report, Options()))
    jsonschema.Draft202012Validator(GITLAB_SCHEMA).validate(entries)
    assert len({entry["fingerprint"] for entry in entries}) == len(report.diagnostics)


def describe(code: str) -> Description:
    return Description(f"{code} in short.", f"{code} in full. " + "x" * 2000, f"# {code}\n\nAll of it.")


def test_sarif_report() -> None:
    report = Report((NO_REST,), 1, 1)
    region = {"startLine": 6, "startColumn": 1, "endLine": 6, "endColumn": 27}
    uri = {"uri": "deploy/launch.toml"}
    assert json.loads(sarif.render(report, Options(describe=describe))) == {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "preflight",
                        "semanticVersion": VERSION,
                        "rules": [
                            {
                                "id": "MEM001",
                                "name": "nonnegative-rest-memory",
                                "shortDescription": {"text": "MEM001 in short."},
                                # 1024 characters at most
                                "fullDescription": {"text": "MEM001 in full. " + "x" * 1007 + "…"},
                                "help": {"text": "# MEM001\n\nAll of it.", "markdown": "# MEM001\n\nAll of it."},
                                "defaultConfiguration": {"level": "error"},
                                "properties": {
                                    "tags": ["llm-serving", "memory"],
                                    "precision": "high",
                                    "problem.severity": "error",
                                },
                            }
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": "MEM001",
                        "ruleIndex": 0,
                        "level": "error",
                        "message": {"text": NO_REST_TEXT},
                        "locations": [{"physicalLocation": {"artifactLocation": uri, "region": region}}],
                        "partialFingerprints": {
                            "primaryLocationLineHash": hash_of("MEM001", "deploy/launch.toml", "mem-fraction-static=0.55")
                        },
                        "relatedLocations": [
                            {
                                "id": 1,
                                "message": {"text": "the weights are split over 8 GPUs"},
                                "physicalLocation": {
                                    "artifactLocation": uri,
                                    "region": {"startLine": 5, "startColumn": 1, "endLine": 5, "endColumn": 12},
                                },
                            }
                        ],
                        "fixes": [
                            {
                                "description": {"text": "Raise mem-fraction-static to 0.845"},
                                "artifactChanges": [
                                    {
                                        "artifactLocation": uri,
                                        "replacements": [
                                            {
                                                "deletedRegion": {
                                                    "startLine": 6,
                                                    "startColumn": 23,
                                                    "endLine": 6,
                                                    "endColumn": 27,
                                                },
                                                "insertedContent": {"text": "0.845"},
                                            }
                                        ],
                                    }
                                ],
                                "properties": {"applicability": "unsafe"},
                            }
                        ],
                        "properties": {"stage": "kv-sizing"},
                    }
                ],
            }
        ],
    }


def run_of(report: Report, root: str | None = None) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(sarif.render(report, Options(root=root)))["runs"][0])


def test_sarif_rules_are_those_that_reported_and_results_point_at_them() -> None:
    run = run_of(REPORT)
    codes = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert codes == ["ENV001", "FLG001", "MEM001", "VER009"]
    assert [(result["ruleId"], codes[result["ruleIndex"]], result["level"]) for result in run["results"]] == [
        ("VER009", "VER009", "note"),
        ("MEM001", "MEM001", "error"),
        ("FLG001", "FLG001", "error"),
        ("ENV001", "ENV001", "warning"),
    ]


def test_sarif_leaves_out_fixes_that_are_only_shown() -> None:
    shown = NO_REST._replace(fixes=(Fix("Look", (edit(LAUNCH, "0.55", "0.8"),), DISPLAY),))
    assert "fixes" not in run_of(Report((shown,), 1, 1))["results"][0]


def test_fingerprints_ignore_spaces_and_lines_and_count_repeats() -> None:
    def hashes(text: str) -> list[str]:
        document = Document("a.toml", text)
        places = [index for index in range(len(text)) if text.startswith("x", index)]
        found = tuple(Diagnostic(BELOW, ERROR, None, f"m{i}", Place(document, Span(i, i + 1))) for i in places)
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run_of(Report(found, 1, 1))["results"]]

    expected = [hash_of("CAP002", "a.toml", "x=1"), hash_of("CAP002", "a.toml", "x=1", 2), hash_of("CAP002", "a.toml", "x=2")]
    assert hashes("x = 1\nx=1\nx = 2\n") == expected
    assert hashes("# moved\n\n  x =   1\n\tx = 1\n\nx = 2") == expected


def test_paths_are_relative_to_the_repository_root(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    (repository / "deploy dir").mkdir(parents=True)
    real = repository / "deploy dir" / "a#1.toml"
    real.write_text("x = 1\n")
    link = tmp_path / "link.toml"
    link.symlink_to(real)
    for given in (str(real), str(link), os.path.relpath(real)):
        document = Document(given, "x = 1\n")
        report = Report((Diagnostic(REST, ERROR, None, "m", at(document, "x")),), 1, 1)
        options = Options(root=str(repository))
        location = run_of(report, options.root)["results"][0]["locations"][0]["physicalLocation"]
        assert location["artifactLocation"] == {"uri": "deploy%20dir/a%231.toml"}
        assert json.loads(gitlab.render(report, options))[0]["location"]["path"] == "deploy dir/a#1.toml"
        assert ",file=deploy dir/a#1.toml," in github.render(report, options)


def test_a_path_outside_the_root_stays_as_it_is(tmp_path: Path) -> None:
    document = Document(str(tmp_path / "a.toml"), "x = 1\n")
    report = Report((Diagnostic(REST, ERROR, None, "m", at(document, "x")),), 1, 1)
    uri = run_of(report, str(tmp_path / "repo"))["results"][0]["locations"][0]["physicalLocation"]
    assert uri["artifactLocation"]["uri"] == (tmp_path / "a.toml").as_uri()


def test_the_root_is_the_nearest_folder_with_a_repository(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "a" / "b").mkdir(parents=True)
    assert repository_root(str(tmp_path / "repo" / "a" / "b")) == os.path.realpath(tmp_path / "repo")
    # A work tree has a file of that name.
    (tmp_path / "repo" / "a" / ".git").write_text("gitdir: elsewhere\n")
    assert repository_root(str(tmp_path / "repo" / "a" / "b")) == os.path.realpath(tmp_path / "repo" / "a")
    assert repository_root(str(Path(tmp_path.anchor))) is None


def test_a_rule_is_described_by_its_docstring() -> None:
    documentation = """Nothing is left.

## What it does
Compares this
with that.

More of it.
## Why
Because.

## Example
```toml bad
a = 1
## Why
```
"""
    assert described("MEM001", documentation) == Description(
        "Nothing is left.",
        "Compares this with that. Because.",
        "# MEM001: Nothing is left.\n\n## What it does\nCompares this\nwith that.\n\nMore of it.\n## Why\nBecause.\n\n"
        "## Example\n```toml bad\na = 1\n## Why\n```\n",
    )
    assert described("MEM001", "In short.") == Description("In short.", "In short.", "# MEM001: In short.\n")


def test_a_leading_dot_is_dropped() -> None:
    document = Document("./a.toml", "x = 1\n")
    report = Report((Diagnostic(REST, ERROR, None, "m", at(document, "x")),), 1, 1)
    assert json.loads(gitlab.render(report, Options()))[0]["location"]["path"] == "a.toml"


def test_sarif_keeps_the_worst_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sarif.MAX_RESULTS == 25_000  # GitHub's limit; a smaller one here for speed
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)

    def found(index: int, severity: Severity) -> Diagnostic:
        return Diagnostic(BELOW, severity, None, f"m{index}", Place(LAUNCH, Span(0, 1)))

    notes = tuple(found(index, NOTE) for index in range(3))
    run = run_of(Report((*notes, found(-1, ERROR)), 1, 1))
    assert [result["message"]["text"] for result in run["results"]] == ["m0", "m1", "m-1"]
    text = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert text == "Left out of this run, which holds at most 3 results: 1."


# What GitHub's documentation and the SARIF 2.1.0 standard ask of the parts that we write, in our own words. The standard's
# own schema is not ours to ship; PREFLIGHT_SARIF_SCHEMA names a copy to check against as well.
REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "additionalProperties": {"type": "integer", "minimum": 1},
}
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
SHORT_MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"minLength": 1, "maxLength": 1024}}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "additionalProperties": False,
            "properties": {
                "artifactLocation": {
                    "required": ["uri"],
                    "additionalProperties": False,
                    # a URI reference: no spaces, no backslashes, no control characters
                    "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9/._~%:@!$&'()*+,;=-]+$"}},
                },
                "region": REGION,
            },
        }
    },
}
RULE = {
    "type": "object",
    "required": ["id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"],
    "properties": {
        "shortDescription": SHORT_MESSAGE,
        "fullDescription": SHORT_MESSAGE,
        "help": {**MESSAGE, "required": ["text", "markdown"]},
        "defaultConfiguration": {"properties": {"level": {"enum": ["none", "note", "warning", "error"]}}},
        "properties": {
            "required": ["tags", "precision", "problem.severity"],
            "properties": {
                "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 20},
                "precision": {"enum": ["very-high", "high", "medium", "low"]},
                "problem.severity": {"enum": ["error", "warning", "recommendation"]},
            },
        },
    },
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    "properties": {
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "minItems": 1, "maxItems": 1, "items": LOCATION},
        "relatedLocations": {"type": "array", "items": {**LOCATION, "required": ["id", "message", "physicalLocation"]}},
        "partialFingerprints": {
            "required": ["primaryLocationLineHash"],
            "additionalProperties": False,
            "properties": {"primaryLocationLineHash": {"pattern": "^[0-9a-f]{16}:[1-9][0-9]*$"}},
        },
    },
}
SARIF_SCHEMA = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {
                "type": "object",
                "required": ["tool", "columnKind", "results"],
                "properties": {
                    "columnKind": {"const": "unicodeCodePoints"},
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "semanticVersion", "rules"],
                                "properties": {"rules": {"type": "array", "items": RULE}},
                            }
                        },
                    },
                    "results": {"type": "array", "maxItems": 25000, "items": RESULT},
                },
            },
        },
    },
}


@pytest.mark.parametrize("report", [REPORT, CLEAN, ODD])
def test_sarif_has_what_github_reads(report: Report) -> None:
    jsonschema.Draft202012Validator(SARIF_SCHEMA).validate(json.loads(sarif.render(report, Options())))


@pytest.mark.skipif("PREFLIGHT_SARIF_SCHEMA" not in os.environ, reason="PREFLIGHT_SARIF_SCHEMA names no copy of the schema")
@pytest.mark.parametrize("report", [REPORT, CLEAN, ODD, Report((NO_TEXT,), 1, 0)])
def test_sarif_matches_the_official_schema(report: Report) -> None:
    schema = json.loads(Path(os.environ["PREFLIGHT_SARIF_SCHEMA"]).read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(json.loads(sarif.render(report, Options(describe=describe))))
