"""Which files of a folder are linted."""

import os
import subprocess
from pathlib import Path

import pytest

from preflight.discovery import walk

LAUNCH = "vllm serve m\n"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(root: Path) -> list[str]:
    return [os.path.relpath(path, root).replace(os.sep, "/") for path in walk(str(root), lambda path: False)]


def test_files_of_known_kinds_that_name_an_engine_are_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b/run.sh": LAUNCH,
            "a.yaml": "image: vllm/vllm-openai\n",
            "flags.yaml": "max-model-len: 1\n",
            "Dockerfile": "FROM vllm/x\n",
            "Dockerfile.gpu": "FROM vllm/x\n",
            "start": "#!/bin/bash\n" + LAUNCH,
            "launch.toml": "",
            "x.toml": 'engine = "vllm"\n',
            "other.toml": "a = 1\n",
            "other.yaml": "a: 1\n",
            "other.sh": "echo\n",
            "README.md": LAUNCH,
            "LICENSE": LAUNCH,
            ".hidden/run.sh": LAUNCH,
        },
    )
    (tmp_path / "picture.png").write_bytes(b"\xff\x00vllm")
    names = ["Dockerfile", "Dockerfile.gpu", "a.yaml", "flags.yaml", "launch.toml", "start", "x.toml", "b/run.sh"]
    assert found(tmp_path) == names


IGNORED = """
# comment
*.log.sh
/top.sh
build/
deep/**/x.sh
!keep.log.sh
"""


def test_gitignore_is_obeyed_as_git_does(tmp_path: Path) -> None:
    names = [
        "a.sh",
        "a.log.sh",
        "keep.log.sh",
        "top.sh",
        "sub/top.sh",
        "build/a.sh",
        "sub/build/a.sh",
        "deep/x.sh",
        "deep/p/q/x.sh",
        "sub/own.sh",
        "sub/a.log.sh",
    ]
    write(tmp_path, dict.fromkeys(names, LAUNCH))
    write(tmp_path, {".gitignore": IGNORED, "sub/.gitignore": "own.sh\n!a.log.sh\n"})
    git = subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=False)
    if git.returncode:
        pytest.skip("git is not here")
    listed = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    assert sorted(found(tmp_path)) == sorted(name for name in listed if name.endswith(".sh"))


def test_a_folder_inside_a_repository_knows_the_ignores_above(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "gone.sh\n", ".git/HEAD": "", "sub/gone.sh": LAUNCH, "sub/here.sh": LAUNCH})
    assert found(tmp_path / "sub") == ["here.sh"]


def test_links_to_folders_above_end(tmp_path: Path) -> None:
    write(tmp_path, {"a/run.sh": LAUNCH})
    try:
        (tmp_path / "a" / "loop").symlink_to(tmp_path)
    except OSError:
        pytest.skip("no links here")
    assert found(tmp_path) == ["a/run.sh"]
