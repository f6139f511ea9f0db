"""Project settings give files their context, choose rules and exclude files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import run_cli

BARE = 'engine = "sglang"\nflags = { tp-size = 8, mem-fraction-static = 0.55 }\n'
CONTEXT = """\
engine-version = "0.5.9"
[files."deploy/**"]
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "launch.toml").write_text(BARE)
    return tmp_path


def found(*words: str) -> list[tuple[str, str]]:
    data = json.loads(run_cli("lint", "--format", "json", *words).stdout)
    return [(diagnostic["path"], diagnostic["code"]) for diagnostic in data["diagnostics"] if diagnostic["severity"] != "note"]


def test_without_settings_memory_rules_are_silent(folder: Path) -> None:
    assert found("deploy") == []


def test_settings_give_version_hardware_and_model(folder: Path) -> None:
    (folder / "preflight.toml").write_text(CONTEXT)
    assert found("deploy/launch.toml") == [("deploy/launch.toml", "MEM001")]
    assert found("--no-config", "deploy/launch.toml") == []


def test_pyproject_serves_as_well(folder: Path) -> None:
    text = CONTEXT.replace('[files."', '[tool.preflight.files."')
    (folder / "pyproject.toml").write_text(f"[tool.preflight]\n{text}")
    assert found("deploy") == [("deploy/launch.toml", "MEM001")]


def test_an_ignored_code_is_not_reported(folder: Path) -> None:
    (folder / "preflight.toml").write_text(CONTEXT + 'ignore = ["MEM001"]\n')
    assert found("deploy") == []


def test_excluded_files_are_linted_when_named_unless_forced(folder: Path) -> None:
    (folder / "preflight.toml").write_text('exclude = ["deploy"]\n' + CONTEXT)
    assert found(".") == []
    assert found("deploy/launch.toml") == [("deploy/launch.toml", "MEM001")]
    assert found("--force-exclude", "deploy/launch.toml") == []


def test_broken_settings_are_exit_2_with_their_place(folder: Path) -> None:
    (folder / "preflight.toml").write_text("engine-version = \n")
    run = run_cli("lint", "--format", "concise", "deploy/launch.toml")
    assert run.code == 2
    assert run.stdout.startswith("preflight.toml:1:")


def test_an_unknown_code_in_the_settings_is_an_error_with_a_suggestion(folder: Path) -> None:
    (folder / "preflight.toml").write_text('ignore = ["MEM01"]\n')
    run = run_cli("lint", "--format", "concise", "deploy/launch.toml")
    assert run.code == 2
    assert "MEM001" in run.stdout


def test_settings_are_shown_with_their_origin(folder: Path) -> None:
    (folder / "preflight.toml").write_text(CONTEXT)
    shown = run_cli("lint", "--show-settings", "deploy/launch.toml").stdout
    assert 'engine-version = "0.5.9"  # preflight.toml:1:18' in shown
    assert 'model.profile = "kimi-k2.5-int4"  # preflight.toml:4:' in shown


def test_a_suppression_hides_a_finding_and_an_unused_one_is_reported(folder: Path) -> None:
    (folder / "preflight.toml").write_text(CONTEXT)
    path = folder / "deploy" / "launch.toml"
    path.write_text(BARE.replace("}\n", "}  # preflight: ignore[MEM001] known\n"))
    assert found("deploy") == []
    path.write_text(BARE.replace("0.55", "0.88").replace("}\n", "}  # preflight: ignore[MEM001] known\n"))
    assert ("deploy/launch.toml", "CFG007") in found("deploy")
    assert found("--select", "CAP", "deploy") == [("deploy/launch.toml", "CAP002")]


def test_many_files_are_linted_in_their_order(folder: Path) -> None:
    (folder / "preflight.toml").write_text(CONTEXT)
    for number in range(60):
        (folder / "deploy" / f"{number:02}.launch.toml").write_text(BARE)
    paths = [path for path, _ in found("deploy")]
    assert len(paths) == 61
    assert paths == sorted(paths)
    assert found("--jobs", "1", "deploy") == found("--jobs", "2", "deploy")


def test_a_file_without_a_launch_is_said_to_have_none_only_to_who_asked(folder: Path) -> None:
    (folder / "Cargo.toml").write_text('[package]\nname = "x"\n')

    def codes(*words: str) -> list[tuple[str, str]]:
        data = json.loads(run_cli("lint", "--format", "json", *words).stdout)
        return [(found["code"], found["severity"]) for found in data["diagnostics"]]

    assert codes("Cargo.toml") == [("CFG012", "note")]
    assert codes(".") == codes("--force-exclude", "Cargo.toml") == codes("--ignore", "CFG012", "Cargo.toml") == []
    assert run_cli("lint", "Cargo.toml").code == 0


def test_explain_knows_what_the_settings_say(folder: Path) -> None:
    (folder / "preflight.toml").write_text(CONTEXT)
    (launch,) = json.loads(run_cli("explain", "--format", "json", "deploy/launch.toml").stdout)["launches"]
    assert launch["judged_as"] == "0.5.9"
    assert launch["model"]["profile"] == "kimi-k2.5-int4"
    assert launch["hardware"]["count"] == 8
    assert launch["verdict"] == "fails"


def test_explain_with_broken_settings_is_exit_2(folder: Path) -> None:
    (folder / "preflight.toml").write_text("engine-version = [\n")
    run = run_cli("explain", "--format", "json", "deploy/launch.toml")
    assert run.code == 2
    assert len(json.loads(run.stdout)["launches"]) == 1
