"""The pre-commit hooks see the files that hold launches, and no others of the same name in other kinds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
TAGS = {
    "launch.toml": {"file", "text", "toml"},
    "deploy/kimi.launch.toml": {"file", "text", "toml"},
    "k8s/sglang.yaml": {"file", "text", "yaml"},
    "docker-compose.yml": {"file", "text", "yaml"},
    "scripts/serve.sh": {"file", "text", "shell", "sh"},
    "Dockerfile": {"file", "text", "dockerfile"},
    "Makefile": {"file", "text", "makefile"},
    "templates/deployment.yaml.j2": {"file", "text", "jinja"},
    "main.tf": {"file", "text", "terraform"},
    "launch.py": {"file", "text", "python"},
    "README.md": {"file", "text", "markdown"},
    "model.safetensors": {"file", "binary"},
}
"""What pre-commit's `identify` says of each path (the tags of a regular file that is not executable)."""
SEEN = sorted(path for path in TAGS if path not in ("README.md", "model.safetensors"))


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_a_hook_sees_every_kind_that_is_read(hook: dict[str, object]) -> None:
    wanted = hook["types_or"]
    assert isinstance(wanted, list)
    assert sorted(path for path, tags in TAGS.items() if tags & set(wanted)) == SEEN


def test_the_hooks_are_the_two_that_are_documented() -> None:
    assert [hook["id"] for hook in HOOKS] == ["preflight", "preflight-fix"]
    assert [hook["entry"] for hook in HOOKS] == ["preflight lint --force-exclude", "preflight lint --force-exclude --fix"]


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.skipif(
    os.environ.get("PREFLIGHT_TRY_REPO") != "1", reason="PREFLIGHT_TRY_REPO=1 runs the hook for real; it installs the package"
)
def test_the_hook_runs_on_a_scratch_repository(tmp_path: Path) -> None:
    pre_commit = shutil.which("pre-commit") or str(Path(sys.executable).with_name("pre-commit"))
    if not Path(pre_commit).exists():
        pytest.skip("pre-commit is not installed")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    _run(scratch, "git", "init", "-q")
    shutil.copy(ROOT / "examples" / "kimi-k2.5-8x96.launch.toml", scratch / "launch.toml")
    (scratch / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    _run(scratch, "git", "add", ".")
    tried = _run(scratch, pre_commit, "try-repo", str(ROOT), "preflight", "--all-files")
    if "An unexpected error has occurred" in tried.stdout + tried.stderr:
        pytest.skip(f"pre-commit could not install the hook: {tried.stdout[-300:]}")
    assert tried.returncode == 1
    assert "MEM001" in tried.stdout
    assert "pyproject.toml" not in tried.stdout
