"""Output shown in the documentation is what the tool prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_shows_what_the_tool_prints() -> None:
    env = {name: value for name, value in os.environ.items() if name not in ("GITHUB_ACTIONS", "FORCE_COLOR")}
    command = [sys.executable, "scripts/generate_docs.py", "--check"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env, timeout=300)
    assert run.returncode == 0, f"{run.stdout}{run.stderr}\nRegenerate with: python scripts/generate_docs.py"


def test_the_readme_gives_the_test_command_that_ci_runs() -> None:
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    assert "-m pytest -q" in readme
    assert "-m pytest -q" in ci
