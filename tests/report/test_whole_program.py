"""One file with an error that has a fix, and a warning, in every format, through the whole command."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from preflight.cli.lint import run
from preflight.report.matcher import vscode_tasks
from tests.report.test_formats_for_hosts import GITLAB_SCHEMA, SARIF_SCHEMA
from tests.report.test_json import SCHEMA

FILE = """\
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
observed = { free-before-load = "93.999 GiB", free-after-load = "21.697 GiB" }

[[launch]]
flags = { tp-size = 8, mem-fraction-static = 0.55 }

[[launch]]
flags = { tp-size = 8, mem-fraction-static = 0.88 }
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "launch.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path / "deploy")
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def lint(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run([*words, "launch.toml"], io.BytesIO(), out, err), out.getvalue(), err.getvalue()


def findings() -> list[dict[str, Any]]:
    code, out, _ = lint("--format", "json")
    assert code == 1
    diagnostics: list[dict[str, Any]] = json.loads(out)["diagnostics"]
    return diagnostics


def test_the_file_has_something_for_every_format() -> None:
    found = [(one["code"], one["severity"], len(one["fixes"])) for one in findings() if one["severity"] != "note"]
    assert found == [
        ("MEM001", "error", 1),
        ("CAP002", "warning", 0),
    ]


def test_annotations_match_the_findings_one_to_one() -> None:
    code, out, err = lint("--format", "github")
    assert (code, err) == (1, "")
    annotations = [re.match(r"::(\w+) title=(\S+) [^,]+,file=([^,]+),line=(\d+),", line) for line in out.splitlines()]
    seen = [match.groups() for match in annotations if match]
    command = {"error": "error", "warning": "warning", "note": "notice"}
    expected = [
        (command[one["severity"]], one["code"], "deploy/launch.toml", str(one["range"]["start"]["line"])) for one in findings()
    ]
    assert sorted(seen) == sorted(expected)
    assert len(out.splitlines()) == len(expected)


def test_reports_for_code_hosts_are_valid_and_describe_their_rules() -> None:
    sarif = json.loads(lint("--format", "sarif")[1])
    jsonschema.Draft202012Validator(SARIF_SCHEMA).validate(sarif)
    results = sarif["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [one["code"] for one in findings()]
    assert {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results} == {"deploy/launch.toml"}
    described = {rule["id"]: rule for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert described["MEM001"]["shortDescription"]["text"] == "Nothing is left for the KV cache."
    gitlab = json.loads(lint("--format", "gitlab")[1])
    jsonschema.Draft202012Validator(GITLAB_SCHEMA).validate(gitlab)
    assert [entry["check_name"] for entry in gitlab] == [one["code"] for one in findings()]


@pytest.mark.skipif(not SCHEMA.is_file(), reason="schemas/lint-output.schema.json is not there yet")
def test_json_matches_its_schema() -> None:
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(lint("--format", "json")[1]))


@pytest.mark.parametrize("form", ["text", "concise"])
@pytest.mark.parametrize("color", ["always", "never"])
def test_the_matcher_reads_what_is_printed(form: str, color: str) -> None:
    out = lint("--format", form, "--color", color, "--notes")[1]
    matchers = [matcher["pattern"]["regexp"] for matcher in json.loads(vscode_tasks())["tasks"][0]["problemMatcher"]]
    codes = [match[5] for line in out.splitlines() for regexp in matchers if (match := re.search(regexp, line))]
    assert codes == [one["code"] for one in findings()]


def test_on_github_annotations_follow_the_text_where_no_format_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, annotations = lint()[1], lint("--format", "github")[1]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert lint()[1] == plain + annotations
    assert lint("--format", "concise")[1] == "".join(
        f"{line}\n" for line in plain.splitlines() if line.startswith("launch.toml:")
    )


def test_statistics_leave_a_machine_report_alone() -> None:
    _, out, err = lint("--format", "json", "--statistics")
    json.loads(out)
    assert re.search(r"^1  MEM001  nonnegative-rest-memory +1 fixable$", err, re.M)


def test_a_report_in_a_file_is_plain_and_standard_output_empty(repository: Path) -> None:
    code, out, _ = lint("--format", "concise", "--output-file", "report.txt")
    assert (code, out) == (1, "")
    assert (repository / "deploy" / "report.txt").read_text() == lint("--format", "concise")[1]
