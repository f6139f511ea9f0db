"""The founding case: Kimi-K2.5 INT4 at TP8 on eight RTX PRO 6000, with the numbers of a real boot and of its arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from preflight.diagnostics import ERROR
from preflight.explain.data import explain
from preflight.lint import FileResult, lint_document
from preflight.text import Document
from tests.command import run_cli

HEAD = """\
# keep this comment
engine = "sglang"
engine-version = "{version}"
hardware = {{ profile = "8x-rtx-pro-6000-blackwell" }}
model = {{ profile = "kimi-k2.5-int4" }}

[flags]
tp-size = 8   # all of them
"""
SEEN = """
[observed]
free-before-load = "93.999 GiB"
free-after-load = "21.697 GiB"
"""


def launch(version: str = "0.5.9", fraction: float | None = None, *, seen: bool = True) -> Document:
    flag = "" if fraction is None else f"mem-fraction-static = {fraction}  # why\n"
    return Document("launch.toml", HEAD.format(version=version) + flag + (SEEN if seen else ""))


def codes(result: FileResult) -> list[str]:
    return [f"{diagnostic.severity.word} {diagnostic.rule.code}" for diagnostic in result.diagnostics]


def explained(result: FileResult) -> dict[str, object]:
    (data,) = explain([result])["launches"]
    assert isinstance(data, dict)
    return data


def figure(data: dict[str, object], *path: str) -> float:
    value: object = data
    for name in path:
        assert isinstance(value, dict)
        value = value[name]
    assert isinstance(value, int | float)
    return value


@pytest.mark.parametrize(("version", "rest", "minimum"), [("0.5.9", -20.603, 0.7692), ("0.5.23", -20.700, 0.7703)])
def test_055_cannot_start(version: str, rest: float, minimum: float) -> None:
    result = lint_document(launch(version, 0.55))
    assert codes(result) == ["error MEM001"]
    (diagnostic,) = result.diagnostics
    assert diagnostic.severity is ERROR
    assert diagnostic.stage == "kv-sizing"
    assert result.document.lines.position(diagnostic.at.span.start) == (9, 1)
    data = explained(result)
    assert figure(data, "memory", "rest", "expected") == pytest.approx(rest, abs=5e-4)
    assert figure(data, "static_fraction", "minimum") == minimum
    assert figure(data, "kv", "bytes_per_token") == 70272
    assert figure(data, "memory", "kv_cache", "expected") == 0
    assert data["verdict"] == "fails"


def test_088_starts_with_less_than_one_context() -> None:
    result = lint_document(launch(fraction=0.88))
    assert codes(result) == ["warning CAP002"]
    data = explained(result)
    assert figure(data, "memory", "rest", "expected") == pytest.approx(10.417, abs=5e-4)
    assert figure(data, "kv", "tokens", "expected") == 159_171
    assert figure(data, "capacity", "full_context_requests") == pytest.approx(0.61, abs=5e-3)
    assert data["verdict"] == "fits"


def test_the_automatic_fraction_of_0_5_9_just_starts() -> None:
    result = lint_document(launch())
    assert codes(result) == ["warning CAP002"]
    data = explained(result)
    assert figure(data, "static_fraction", "value") == pytest.approx(0.771456, abs=5e-7)
    assert figure(data, "memory", "rest", "expected") == pytest.approx(0.214, abs=5e-4)
    assert figure(data, "kv", "tokens", "expected") == 3_271


def test_the_automatic_fraction_of_0_5_23_does_not_start() -> None:
    result = lint_document(launch("0.5.23"))
    assert codes(result) == ["error MEM001"]
    (diagnostic,) = result.diagnostics
    assert result.document.lines.position(diagnostic.at.span.start) == (2, 1)
    data = explained(result)
    assert figure(data, "static_fraction", "value") == pytest.approx(0.757810, abs=5e-7)
    assert figure(data, "memory", "rest", "expected") == pytest.approx(-1.166, abs=5e-4)
    assert figure(data, "static_fraction", "minimum") == 0.7703


def test_without_a_boot_055_is_still_proven_to_fail() -> None:
    result = lint_document(launch(fraction=0.55, seen=False))
    assert codes(result) == ["error MEM001"]
    rest = explained(result)["memory"]
    assert isinstance(rest, dict)
    assert rest["rest"]["ceil"] < 0


def test_without_a_boot_080_is_no_error() -> None:
    result = lint_document(launch(fraction=0.80, seen=False))
    assert not [code for code in codes(result) if code.startswith("error")]


def test_the_weights_are_expected_where_they_were_measured() -> None:
    data = explained(lint_document(launch(fraction=0.80, seen=False)))
    assert 71.7 <= figure(data, "memory", "weights", "expected") <= 72.6


def test_the_fix_sets_0845_and_leaves_all_else_alone(tmp_path: Path) -> None:
    path = tmp_path / "launch.toml"
    text = launch(fraction=0.55).text
    path.write_text(text, encoding="utf-8")
    run = run_cli("lint", "--fix", "--unsafe-fixes", "--format", "json", str(path))
    assert path.read_text(encoding="utf-8") == text.replace("0.55", "0.845")
    assert [diagnostic["code"] for diagnostic in json.loads(run.stdout)["diagnostics"]] == ["CAP002"]
    assert run.code == 0
    fixed = path.read_text(encoding="utf-8")
    assert run_cli("lint", "--fix", "--unsafe-fixes", str(path)).code == 0
    assert path.read_text(encoding="utf-8") == fixed


def test_where_the_flag_is_absent_the_fix_inserts_it(tmp_path: Path) -> None:
    path = tmp_path / "launch.toml"
    text = launch("0.5.23").text
    path.write_text(text, encoding="utf-8")
    assert run_cli("lint", str(path)).code == 1
    assert run_cli("lint", "--fix", "--unsafe-fixes", str(path)).code == 0
    changed = path.read_text(encoding="utf-8")
    added = [line for line in changed.splitlines() if line not in text.splitlines()]
    assert added == ["mem-fraction-static = 0.829"]
    assert [line for line in changed.splitlines() if line != added[0]] == text.splitlines()


def test_safe_fixes_leave_a_judgement_alone(tmp_path: Path) -> None:
    path = tmp_path / "launch.toml"
    path.write_text(launch(fraction=0.55).text, encoding="utf-8")
    run = run_cli("lint", "--fix", str(path))
    assert run.code == 1
    assert path.read_text(encoding="utf-8") == launch(fraction=0.55).text
