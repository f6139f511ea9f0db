"""What no launch file ever is: pipes, devices, nesting without end. A diagnostic or silence, never a wait or a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from preflight.launch import Reading
from preflight.lint import lint_document
from preflight.text import Document
from tests.command import run_cli

LAUNCH = 'engine = "sglang"\nengine-version = "0.5.9"\n[flags]\ntp-sze = 8\n'


def process(*command: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, where the checkout can be imported."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(command, text=True, timeout=60, env=env, check=False, **piped)


PREFLIGHT = (sys.executable, "-m", "preflight")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["launch.toml", "boot.log", "run.sh"])
def test_a_named_pipe_is_an_unreadable_file_and_is_not_waited_for(folder: Path, name: str) -> None:
    os.mkfifo(folder / name)
    for command in ("lint", "explain"):
        done = process(*PREFLIGHT, command, name)
        assert done.returncode == 2
        assert "no regular file" in done.stdout + done.stderr
    assert run_cli("lint", ".").code == 0


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no /dev/zero here")
@pytest.mark.parametrize("name", ["launch.toml", "boot.log"])
def test_a_link_to_a_device_is_an_unreadable_file(folder: Path, name: str) -> None:
    (folder / name).symlink_to("/dev/zero")
    assert run_cli("lint", name).code == 2
    assert run_cli("lint", ".").code == 0


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")
def test_a_pipe_of_the_shell_is_read(folder: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, LAUNCH.encode())
    os.close(writing)
    assert run_cli("lint", f"/dev/fd/{reading}").code == 0  # no kind that is read, but no failure either
    os.close(reading)


@pytest.mark.parametrize("flag", ["json-model-override-args", "cuda-graph-config", "speculative-draft-model-path", "lora-paths"])
def test_deep_json_in_a_flag_is_no_traceback(flag: str) -> None:
    deep = '{"a":' * 50_000 + "1" + "}" * 50_000
    for version in ("0.5.9", "0.5.23"):
        result = lint_document(
            Document("launch.toml", f"engine='sglang'\nengine-version='{version}'\n[flags]\n{flag} = '{deep}'\n")
        )
        assert result.internal_errors == ()


def test_an_error_of_ours_costs_one_file_and_not_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import preflight.readers.launch_file as reader

    right = reader.read

    def wrong(document: Document) -> object:
        if document.path == "wrong.launch.toml":
            raise ZeroDivisionError("made up")
        return right(document)

    monkeypatch.setattr(reader, "read", wrong)
    for name in ("wrong.launch.toml", "launch.toml"):
        (folder / name).write_text(LAUNCH)
    run = run_cli("lint", "--format", "json", "wrong.launch.toml", "launch.toml")
    assert run.code == 2
    assert "internal error" in run.stderr
    assert "wrong.launch.toml" in run.stderr
    assert [found["path"] for found in json.loads(run.stdout)["diagnostics"] if found["severity"] == "error"] == ["launch.toml"]


def test_fixes_of_many_launches_are_proved_together(monkeypatch: pytest.MonkeyPatch) -> None:
    import preflight.lint as lint

    readings: list[Document] = []
    right = lint.read

    def counted(document: Document) -> Reading:
        readings.append(document)
        return right(document)

    monkeypatch.setattr(lint, "read", counted)
    launches = "".join(f"[[launch]]\nflags = {{ tp-sze = {number} }}\n" for number in range(1, 61))
    result = lint_document(Document("launch.toml", f'engine = "sglang"\nengine-version = "0.5.9"\n{launches}'))
    found = [one for one in result.launches if any(own.rule.code == "FLG001" and own.fixes for own in one.diagnostics)]
    assert len(found) == 60
    assert len(readings) < 10


def test_a_long_value_is_quoted_in_short() -> None:
    text = f"engine = 'sglang'\nengine-version = '0.5.9'\n[flags]\ntp-size = '{'f' * 20_000}'\n"
    messages = [one.message for one in lint_document(Document("launch.toml", text)).diagnostics if one.rule.code == "FLG006"]
    assert len(messages) == 1
    assert len(messages[0]) < 400


@pytest.mark.parametrize("amount", ["0e400 GiB", f"0e{'9' * 5000} GiB", f"1.{'0' * 5000} GiB"])
def test_an_amount_with_a_monstrous_exponent_is_an_amount(amount: str) -> None:
    text = f'engine = "sglang"\nengine-version = "0.5.9"\n[observed]\nfree-before-load = "{amount}"\n[flags]\ntp-size = 8\n'
    assert lint_document(Document("launch.toml", text)).internal_errors == ()


@pytest.mark.parametrize("command", [["lint", "launch.toml"], ["rule", "--all"]])
def test_whoever_stops_reading_the_report_gets_no_traceback(folder: Path, command: list[str]) -> None:
    (folder / "launch.toml").write_text(LAUNCH)
    reading, writing = os.pipe()
    os.close(reading)
    done = process(*PREFLIGHT, *command, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_odd_python_is_read_without_a_word(folder: Path) -> None:
    """`1if` is a warning of Python's compiler, which goes to standard error."""
    (folder / "start.py").write_text('import subprocess\nx = 1if 1else 0\nsubprocess.run(["vllm", "serve", "m", "\\d"])\n')
    done = process(sys.executable, "-W", "default", *PREFLIGHT[1:], "lint", "start.py")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", [["lint", "launch.toml"], ["explain", "launch.toml"], ["--version"]])
def test_a_report_that_cannot_be_written_is_said_and_fails(folder: Path, command: list[str]) -> None:
    (folder / "launch.toml").write_text(LAUNCH)
    with open("/dev/full", "w") as full:
        done = process(*PREFLIGHT, *command, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith("preflight: the report could not be written: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/bin/sh"), reason="no shell here")
@pytest.mark.parametrize(("closed", "code"), [("<&-", 1), (">&-", 1), ("2>&-", 1)])
def test_closed_streams_are_no_traceback(folder: Path, closed: str, code: int) -> None:
    (folder / "launch.toml").write_text(LAUNCH)
    done = process("/bin/sh", "-c", f'"{sys.executable}" -m preflight lint launch.toml {closed}')
    assert (done.returncode, done.stderr) == (code, "")


def test_what_is_a_hidden_note_is_not_fixed(folder: Path) -> None:
    text = 'engine = "sglang"\nengine-version = "0.5.9"\nmodel = { profile = "qwen3-8b" }\n[flags]\npp-size = 2\n'
    (folder / "launch.toml").write_text(text)
    assert "1 note (--notes)" in run_cli("lint", "launch.toml").stdout
    run_cli("lint", "--fix", "--unsafe-fixes", "launch.toml")
    assert (folder / "launch.toml").read_text() == text
    run_cli("lint", "--fix", "--unsafe-fixes", "--notes", "launch.toml")
    assert (folder / "launch.toml").read_text() != text
