"""The whole program, in process: exit codes, streams, formats, selection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import run_cli

FAILS = """\
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
observed = { free-before-load = "94.0 GiB", free-after-load = "21.7 GiB" }
flags = { tp-size = 8, mem-fraction-static = 0.55 }
"""
FITS = FAILS.replace("0.55", "0.88, context-length = 100000")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def test_a_clean_launch_is_exit_0(folder: Path) -> None:
    run = run_cli("lint", write(folder, "launch.toml", FITS))
    assert (run.code, run.stderr) == (0, "")


def test_a_finding_is_exit_1_in_every_format(folder: Path) -> None:
    name = write(folder, "launch.toml", FAILS)
    for format in ("text", "concise", "json", "sarif", "github", "gitlab"):
        assert run_cli("lint", "--format", format, name).code == 1, format


def test_a_missing_file_is_exit_2_and_the_others_are_linted(folder: Path) -> None:
    name = write(folder, "launch.toml", FAILS)
    run = run_cli("lint", "--format", "json", "gone.toml", name)
    data = json.loads(run.stdout)
    assert run.code == 2
    assert [(found["path"], found["code"]) for found in data["diagnostics"]] == [
        ("gone.toml", "CFG006"),
        ("launch.toml", "MEM001"),
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"engine = \xff", b"\x00" * 100])
def test_binary_junk_is_one_diagnostic(folder: Path, data: bytes) -> None:
    run = run_cli("lint", "--format", "json", write(folder, "launch.toml", data))
    assert run.code in (1, 2)
    assert len(json.loads(run.stdout)["diagnostics"]) == 1


def test_a_file_over_ten_megabytes_is_not_read(folder: Path) -> None:
    run = run_cli("lint", "--format", "json", write(folder, "launch.toml", b"#" * 10_000_001))
    assert run.code == 2
    assert [found["code"] for found in json.loads(run.stdout)["diagnostics"]] == ["CFG006"]


def test_broken_toml_is_a_finding_at_its_place(folder: Path) -> None:
    run = run_cli("lint", "--format", "concise", write(folder, "launch.toml", 'engine = "sglang"\nflags = {\n'))
    assert run.code == 1
    assert run.stdout.startswith("launch.toml:")
    assert "CFG001" in run.stdout


def test_other_toml_is_silent(folder: Path) -> None:
    names = [
        write(folder, "pyproject.toml", '[project]\nname = "x"\nversion = "1"\n[tool.ruff]\nline-length = 3\n'),
        write(folder, "Cargo.toml", '[package]\nname = "engine"\nversion = "1"\n'),
    ]
    run = run_cli("lint", "--format", "json", *names)
    data = json.loads(run.stdout)
    assert run.code == 0
    assert [found for found in data["diagnostics"] if found["severity"] != "note"] == []
    assert data["summary"]["launches"] == 0


def test_fail_on_moves_the_threshold(folder: Path) -> None:
    warns = write(folder, "launch.toml", FAILS.replace("0.55", "0.88"))
    assert run_cli("lint", warns).code == 0
    assert run_cli("lint", "--fail-on", "warning", warns).code == 1
    assert run_cli("lint", "--fail-on", "never", write(folder, "b.launch.toml", FAILS)).code == 0


def test_select_and_ignore_take_codes_prefixes_and_names(folder: Path) -> None:
    name = write(folder, "launch.toml", FAILS)
    assert run_cli("lint", "--select", "CAP", name).code == 0
    assert run_cli("lint", "--ignore", "nonnegative-rest-memory", name).code == 0
    assert run_cli("lint", "--ignore", "MEM", "--select", "MEM001", name).code == 1


def test_an_unknown_selector_is_exit_2_with_a_suggestion(folder: Path) -> None:
    run = run_cli("lint", "--select", "MEM01", write(folder, "launch.toml", FAILS))
    assert run.code == 2
    assert run.stdout == ""
    assert "Did you mean MEM001?" in run.stderr


def test_standard_input_is_taken_for_a_launch_file() -> None:
    run = run_cli("lint", "--format", "concise", "--stdin-filename", "deploy/launch.toml", "-", stdin=FAILS.encode())
    assert run.code == 1
    assert run.stdout.startswith("deploy/launch.toml:6:24: error MEM001 nonnegative-rest-memory: ")


def test_diff_shows_the_change_and_writes_nothing(folder: Path) -> None:
    name = write(folder, "launch.toml", FAILS)
    run = run_cli("lint", "--diff", "--unsafe-fixes", name)
    assert run.code == 1
    assert "-flags = { tp-size = 8, mem-fraction-static = 0.55 }" in run.stdout
    assert "+flags = { tp-size = 8, mem-fraction-static = 0.845 }" in run.stdout
    assert (folder / name).read_text() == FAILS
    assert run_cli("lint", "--diff", name).code == 0


def test_json_follows_the_contract(folder: Path) -> None:
    data = json.loads(run_cli("lint", "--format", "json", write(folder, "launch.toml", FAILS)).stdout)
    assert data["summary"] == {"files": 1, "launches": 1, "errors": 1, "warnings": 0, "notes": 0, "fixable": 1}
    (found,) = data["diagnostics"]
    assert (found["code"], found["rule"], found["severity"], found["stage"]) == (
        "MEM001",
        "nonnegative-rest-memory",
        "error",
        "kv-sizing",
    )
    assert found["range"] == {"start": {"line": 6, "column": 24}, "end": {"line": 6, "column": 50}}
    (fix,) = found["fixes"]
    assert fix["applicability"] == "unsafe"
    (edit,) = fix["edits"]
    assert edit == {
        "path": "launch.toml",
        "range": {"start": {"line": 6, "column": 46}, "end": {"line": 6, "column": 50}},
        "new_text": "0.845",
    }


def test_every_launch_of_a_file_is_judged(folder: Path) -> None:
    text = (
        FAILS.replace("flags = ", "[[launch]]\nflags = ") + "\n[[launch]]\nflags = { tp-size = 8, mem-fraction-static = 0.9 }\n"
    )
    data = json.loads(run_cli("lint", "--format", "json", write(folder, "launch.toml", text)).stdout)
    assert data["summary"]["launches"] == 2
    first = data["diagnostics"][0]
    assert (first["code"], first["range"]["start"]["line"]) == ("MEM001", 7)


def test_an_unknown_profile_is_a_note_and_exit_0(folder: Path) -> None:
    text = FAILS.replace("kimi-k2.5-int4", "kimi-k9").replace("observed", "# observed")
    run = run_cli("lint", "--format", "json", write(folder, "launch.toml", text))
    assert run.code == 0
    assert [(found["code"], found["severity"]) for found in json.loads(run.stdout)["diagnostics"]] == [("CFG005", "note")]


def test_a_profile_path_that_leads_nowhere_is_an_error(folder: Path) -> None:
    text = FAILS.replace('"kimi-k2.5-int4"', '"./models/kimi.toml"').replace("observed", "# observed")
    run = run_cli("lint", "--format", "json", write(folder, "launch.toml", text))
    assert run.code == 1
    assert [(found["code"], found["severity"]) for found in json.loads(run.stdout)["diagnostics"]] == [("CFG005", "error")]
