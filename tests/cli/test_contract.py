"""Promises of the command line and of launch.toml that outside tools rely on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from preflight.lint import lint_document
from preflight.text import Document
from tests.command import run_cli

HEAD = 'engine = "sglang"\nengine-version = "0.5.9"\n'
BROKEN = HEAD + '[flags]\nmodel-path = "x"\ntp-size = 8.5\nkv-cache-dtype = "fp9"\n'


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "launch.toml").write_text(BROKEN)
    return tmp_path / "launch.toml"


def found(text: str) -> list[tuple[str, str, str, str]]:
    """Severity, code, the characters pointed at, and the message."""
    return [
        (one.severity.word, one.rule.code, text[one.at.span.start : one.at.span.end], one.message)
        for one in lint_document(Document("launch.toml", text)).diagnostics
    ]


def test_the_range_of_a_bad_value_runs_from_the_flag_to_the_value_and_quotes_what_was_typed() -> None:
    wrong = {code: (at, message) for _, code, at, message in found(BROKEN)}
    assert wrong["FLG006"][0] == "tp-size = 8.5"
    assert wrong["FLG006"][1].startswith("--tp-size takes")
    assert wrong["FLG007"][0] == 'kv-cache-dtype = "fp9"'


def test_in_a_list_of_values_the_range_ends_at_the_bad_one() -> None:
    text = "# preflight: version=0.5.9\npython -m sglang.launch_server --model-path x --cuda-graph-bs 1 2 many --tp 2\n"
    (bad,) = [one for one in lint_document(Document("run.sh", text)).diagnostics if one.rule.code == "FLG006"]
    assert text[bad.at.span.start : bad.at.span.end] == "--cuda-graph-bs 1 2 many"


@pytest.mark.parametrize("target", ["gone/report.json", "."])
def test_a_report_that_cannot_be_written_is_exit_2_and_is_not_lost(launch: Path, target: str) -> None:
    run = run_cli("lint", "--format", "json", "--output-file", target, "launch.toml")
    assert run.code == 2
    assert target in run.stderr
    assert json.loads(run.stdout)["summary"]["errors"] == 2


def test_json_is_printed_even_where_a_selector_is_unknown(launch: Path) -> None:
    run = run_cli("lint", "--format", "json", "--select", "NOPE01", "launch.toml")
    assert run.code == 2
    assert json.loads(run.stdout)["diagnostics"] == []


@pytest.mark.parametrize("word", ["ALL", "all", "*"])
def test_all_rules_can_be_ignored_but_for_those_selected(launch: Path, word: str) -> None:
    assert run_cli("lint", "--ignore", word, "launch.toml").code == 0
    run = run_cli("lint", "--format", "json", "--ignore", word, "--select", "FLG007", "launch.toml")
    assert [one["code"] for one in json.loads(run.stdout)["diagnostics"]] == ["FLG007"]


@pytest.mark.parametrize(("value", "severity"), [("nan", "error"), ("-nan", "error"), ("inf", "warning")])
def test_a_flag_that_is_no_finite_number_is_reported_where_it_stands(value: str, severity: str) -> None:
    for text in (
        f"{HEAD}[flags]\nmodel-path = 'x'\nmem-fraction-static = {value}\n",
        f"{HEAD}[flags]\nmodel-path = 'x'\nmem-fraction-static = {value}\n[[launch]]\n",
    ):
        assert [one[:3] for one in found(text) if one[1] == "UNT006"] == [(severity, "UNT006", value)]


@pytest.mark.parametrize("version", ["0.5.9+cu129", "0.5.9-cu129", "v0.5.9", "0.5.9"])
def test_a_build_for_some_cuda_is_its_release(version: str) -> None:
    text = BROKEN.replace("0.5.9", version)
    assert {code for _, code, _, _ in found(text)} == {"FLG006", "FLG007"}


def test_a_series_without_a_release_of_its_name_means_any_of_it() -> None:
    """0.5 was never released; 0.4.10 would be judged in its place."""
    text = 'engine = "sglang"\nengine-version = "0.5"\nflags = { model-path = "x", kv-canary = "off" }\n'
    (resolved,) = lint_document(Document("launch.toml", text)).launches
    assert resolved.launch.version.given is None
    assert resolved.launch.version.text.startswith("0.5.")


@pytest.mark.parametrize(
    ("flag", "remedy", "fixed"),
    [
        ("max-model-len = 8192", "Use --context-length.", "context-length = 8192"),
        ("max-num-seqs = 8", "Use --max-running-requests.", "max-running-requests = 8"),
        ("gpu-memory-utilization = 0.9", "Use --mem-fraction-static.", None),
        ("enable-reasoning = true", "Use --reasoning-parser.", None),
        ("enforce-eager = true", "Use --disable-cuda-graph.", "disable-cuda-graph = true"),
        ("enable-prefix-caching = true", "Remove it: the engine does this by itself.", ""),
    ],
)
def test_a_flag_of_vllm_is_answered_with_what_sglang_calls_it(launch: Path, flag: str, remedy: str, fixed: str | None) -> None:
    launch.write_text(f'{HEAD}[flags]\nmodel-path = "x"\n{flag}\n')
    assert [one[3] for one in found(launch.read_text()) if one[1] == "FLG001" and one[3].endswith(remedy)]
    run_cli("lint", "--fix", "--unsafe-fixes", "launch.toml")
    assert launch.read_text().split("\n")[4].strip() == (flag if fixed is None else fixed)
