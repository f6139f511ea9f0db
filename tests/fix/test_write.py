from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflight.fix import ChangedMeanwhile, unified_diff, write
from preflight.text import Document


def document(path: Path) -> Document:
    return Document.from_bytes(str(path), path.read_bytes())


def changed(before: Document, old: str, new: str) -> Document:
    return Document(before.path, before.text.replace(old, new), bom=before.bom)


def test_write_keeps_mark_line_ends_and_mode(tmp_path: Path) -> None:
    path = tmp_path / "launch.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\rc = 3")
    path.chmod(0o750)
    before = document(path)
    write(before, changed(before, "2", "20"))
    assert path.read_bytes() == b"\xef\xbb\xbfa = 1\r\nb = 20\rc = 3"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert [each.name for each in tmp_path.iterdir()] == ["launch.toml"]


def test_write_goes_through_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "launch.toml"
    real.write_bytes(b"a = 1\n")
    link = tmp_path / "link.toml"
    link.symlink_to(Path("real") / "launch.toml")
    before = document(link)
    write(before, changed(before, "1", "2"))
    assert link.is_symlink()
    assert real.read_bytes() == b"a = 2\n"
    assert not real.is_symlink()


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "launch.toml"
    path.write_bytes(b"a = 1\n")
    before = document(path)
    path.write_bytes(b"a = 3\n")
    with pytest.raises(ChangedMeanwhile, match="changed while it was linted"):
        write(before, changed(before, "1", "2"))
    assert path.read_bytes() == b"a = 3\n"


def test_nothing_is_left_behind_when_replacing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "launch.toml"
    path.write_bytes(b"a = 1\n")
    before = document(path)

    def refuse(source: str, target: str) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        write(before, changed(before, "1", "2"))
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("launch.toml", b"a = 1\n")]


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "launch.toml"
    path.write_bytes(b"a = 1\n")
    before = document(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write whatever the mode says
    with pytest.raises(PermissionError):
        write(before, changed(before, "1", "2"))
    assert path.read_bytes() == b"a = 1\n"


def test_diff_is_unified() -> None:
    before = Document("deploy/launch.toml", "a = 1\nb = 2\nc = 3\n")
    assert unified_diff(before, changed(before, "2", "20")) == (
        "--- deploy/launch.toml\n+++ deploy/launch.toml\n@@ -1,3 +1,3 @@\n a = 1\n-b = 2\n+b = 20\n c = 3\n"
    )


def test_no_change_no_diff() -> None:
    before = Document("a", "a = 1\n")
    assert unified_diff(before, before) == ""


def test_diff_marks_a_missing_last_newline() -> None:
    before = Document("a", "a = 1")
    assert unified_diff(before, Document("a", "a = 1\nb = 2")) == (
        "--- a\n+++ a\n@@ -1 +1,2 @@\n-a = 1\n\\ No newline at end of file\n+a = 1\n+b = 2\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a = 1\nb = 2\n", b"a = 1\nb = 3\n"),
        (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nb = 3\r\nc = 4\r\n"),
        (b"\xef\xbb\xbfa = 1\nb = 2", b"\xef\xbb\xbfa = 5\nb = 2\n"),
        (b"a = 1\rb = 2\x0c\x0b", b"a = 1\rb = 3\x0c\x0b"),
        ("a = '\u2028é😀'\n\n\n".encode(), "a = '\u2028e'\n\n".encode()),
        (b"", b"a = 1\n"),
    ],
)
@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
def test_patch_takes_the_diff(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(old)
    diff = unified_diff(Document.from_bytes("f", old), Document.from_bytes("f", new))
    command = ["patch", "--binary", "-p0", "--posix", "f"]
    subprocess.run(command, input=diff.encode(), cwd=tmp_path, check=True, capture_output=True)
    assert path.read_bytes() == new


@given(st.text("ab\r\n\x0b", max_size=12), st.text("ab\r\n\x0b", max_size=12))
def test_diff_says_both_texts(old: str, new: str) -> None:
    """Undone and done again by hand: a diff of short texts has all their lines."""
    diff = unified_diff(Document("f", old), Document("f", new))
    if old == new:
        assert diff == ""
        return
    body = [line for line in diff.split("\n")[2:-1] if not line.startswith("@@")]
    for text, sign in ((old, "-"), (new, "+")):
        rebuilt = ""
        for line, following in zip(body, [*body[1:], ""], strict=True):
            if line[:1] in (sign, " "):
                rebuilt += line[1:] + ("" if following.startswith("\\") else "\n")
        assert rebuilt == text
