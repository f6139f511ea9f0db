"""The problem matchers read every finding that we print, plain and coloured, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from preflight.diagnostics import Diagnostic
from preflight.report import concise, text
from preflight.report.escape import escape
from preflight.report.matcher import github_matcher, vscode_tasks
from preflight.report.model import Options, Report
from preflight.text import Document
from tests.report.cases import BELOW, ODD, REPORT, at

# A source line that looks like a finding itself.
DISGUISED = Document("a.sh", "b.toml:1:1: error MEM001 x: y\n")
DIAGNOSTICS = (*REPORT.diagnostics, *ODD.diagnostics, Diagnostic(BELOW, BELOW.severity, "capture", "m", at(DISGUISED, "error")))
EXPECTED = [
    {
        "file": escape(diagnostic.at.path),
        "line": str(diagnostic.at.document.lines.position(diagnostic.at.span.start)[0]),
        "column": str(diagnostic.at.document.lines.position(diagnostic.at.span.start)[1]),
        "severity": diagnostic.severity.word,
        "code": diagnostic.rule.code,
        "message": f"{diagnostic.rule.name}: {escape(diagnostic.message)}",
    }
    for diagnostic in DIAGNOSTICS
]

Pattern = dict[str, Any]


def patterns(source: str) -> list[tuple[str, Pattern]]:
    """The fixed severity and the pattern of each matcher."""
    if source == "vscode":
        matchers = json.loads(vscode_tasks())["tasks"][0]["problemMatcher"]
        return [(matcher["severity"], matcher["pattern"]) for matcher in matchers]
    matchers = json.loads(github_matcher())["problemMatcher"]
    return [(matcher["severity"], matcher["pattern"][0]) for matcher in matchers]


def output(color: bool, as_text: bool) -> list[str]:
    render = text.render if as_text else concise.render
    return render(Report(DIAGNOSTICS, 3, 1), Options(color=color, notes=True, statistics=True)).split("\n")


def findings(lines: list[str], found: list[list[list[str] | None]], source: str) -> list[dict[str, str]]:
    """What the matchers say, from the groups that each pattern found in each line."""
    read = []
    for line, per_pattern in zip(lines, found, strict=True):
        matched = [
            (fixed, pattern, groups) for (fixed, pattern), groups in zip(patterns(source), per_pattern, strict=True) if groups
        ]
        assert len(matched) <= 1, line
        for fixed, pattern, groups in matched:
            keys = ("file", "line", "column", "severity", "code", "message")
            entry = {key: groups[pattern[key]] for key in keys if key in pattern}
            read.append({"severity": {"info": "note", "notice": "note"}.get(fixed, fixed), **entry})
    return read


@pytest.mark.parametrize("source", ["vscode", "github"])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_python_reads_every_finding(source: str, color: bool, as_text: bool) -> None:
    lines = output(color, as_text)
    found: list[list[list[str] | None]] = []
    for line in lines:
        matches = [re.search(pattern["regexp"], line) for _, pattern in patterns(source)]
        found.append([[match[0], *match.groups()] if match else None for match in matches])
    assert findings(lines, found, source) == EXPECTED


NODE = shutil.which("node")
SCRIPT = """
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
const patterns = input.patterns.map((pattern) => new RegExp(pattern));
const found = input.lines.map((line) => patterns.map((pattern) => pattern.exec(line)));
process.stdout.write(JSON.stringify(found));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("source", ["vscode", "github"])
def test_node_reads_every_finding(source: str) -> None:
    lines = [line for color in (False, True) for as_text in (False, True) for line in output(color, as_text)]
    given = json.dumps({"lines": lines, "patterns": [pattern["regexp"] for _, pattern in patterns(source)]})
    run = subprocess.run([str(NODE), "-e", SCRIPT], input=given, capture_output=True, text=True, check=True)
    assert findings(lines, json.loads(run.stdout), source) == EXPECTED * 4


def test_the_task_runs_what_the_matcher_reads() -> None:
    task = json.loads(vscode_tasks())["tasks"][0]
    assert [task["command"], *task["args"]] == ["preflight", "lint", "--format", "concise", "--notes", "."]
    assert [matcher["owner"] for matcher in task["problemMatcher"]] == ["preflight", "preflight-notes"]


def test_github_is_given_only_severities_that_it_knows() -> None:
    assert [severity for severity, _ in patterns("github")] == ["error", "notice"]
    assert [pattern.get("severity") for _, pattern in patterns("github")] == [4, None]
