"""`lint --fix` and `--diff` on files and on standard input, whole command."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from preflight.cli.lint import run

FAILS = (
    b"\xef\xbb\xbf# Kimi\r\n"
    b'engine = "sglang"\r\n'
    b'engine-version = "0.5.9"\r\n'
    b'hardware = { profile = "8x-rtx-pro-6000-blackwell" }\r\n'
    b'model = { profile = "kimi-k2.5-int4" }\r\n'
    b"[flags]\r\n"
    b"tp-size = 8\r\n"
    b"mem-fraction-static = 0.55  # tried\r\n"
    b"[observed]\r\n"
    b'free-before-load = "93.999 GiB"\r\n'
    b'free-after-load = "21.697 GiB"'
)
MENDED = FAILS.replace(b"0.55", b"0.845")


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def lint(*words: str, stdin: bytes = b"", terminal: bool = False) -> tuple[int, bytes, str]:
    raw, err = io.BytesIO(), io.StringIO()
    out = (Terminal if terminal else io.TextIOWrapper)(raw, encoding="utf-8", newline="\n")
    code = run(words, io.BytesIO(stdin), out, err)
    out.flush()
    return code, raw.getvalue(), err.getvalue()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "launch.toml"
    path.write_bytes(FAILS)
    return path


def test_unsafe_fix_changes_the_value_and_nothing_else(path: Path) -> None:
    code, out, err = lint("--fix", "--unsafe-fixes", "launch.toml")
    assert (code, path.read_bytes()) == (0, MENDED)
    assert b" error " not in out
    assert err == "preflight: 1 fixed, 1 left\n"  # the warning that the pool is below one full context
    # Fixing twice changes nothing.
    assert lint("--fix", "--unsafe-fixes", "launch.toml")[2] == "preflight: 0 fixed, 1 left\n"
    assert path.read_bytes() == MENDED


def test_safe_fixes_alone_leave_it_and_say_so(path: Path) -> None:
    code, _, err = lint("--fix", "launch.toml")
    assert (code, path.read_bytes()) == (1, FAILS)
    assert err == "preflight: 0 fixed, 1 left, 1 more with --unsafe-fixes\n"


def test_diff_writes_nothing(path: Path) -> None:
    code, out, err = lint("--diff", "--unsafe-fixes", "launch.toml")
    assert (code, err, path.read_bytes()) == (1, "", FAILS)
    assert b"-mem-fraction-static = 0.55  # tried\r\n+mem-fraction-static = 0.845  # tried\r\n" in out
    code, out, _ = lint("--diff", "launch.toml")
    assert (code, out) == (0, b"")


def test_a_terminal_is_shown_no_control_characters(path: Path) -> None:
    path.write_bytes(FAILS.replace(b"# tried", "# \u202etried".encode()))
    _, out, _ = lint("--diff", "--unsafe-fixes", "launch.toml", terminal=True)
    assert b"+mem-fraction-static = 0.845  # \\u202etried\\r\n" in out


def test_standard_input_is_passed_on_fixed_and_no_file_is_touched(path: Path) -> None:
    code, out, err = lint("--fix", "--unsafe-fixes", "--format", "concise", "-", stdin=FAILS)
    assert (code, out) == (0, MENDED)
    assert err.startswith("preflight: 1 fixed, 1 left\nlaunch.toml:2:1: warning CAP002 ")
    assert path.read_bytes() == FAILS


def test_standard_input_is_passed_on_where_nothing_is_fixed(path: Path) -> None:
    code, out, _ = lint("--fix", "-", stdin=FAILS)
    assert (code, out) == (1, FAILS)
