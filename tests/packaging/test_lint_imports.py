"""A cold lint loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "pydantic", "typer", "rich", "jsonschema", "asyncio", "importlib.metadata", "dataclasses", "inspect", "difflib", "yaml",
    "multiprocessing", "concurrent", "email", "tempfile", "pathlib", "urllib",
    "ast", "preflight.report.sarif", "preflight.model.importing",
)  # fmt: skip


def test_lint_of_a_launch_file_loads_nothing_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "preflight", "lint", "examples/kimi-k2.5-8x96.launch.toml"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}
    assert "preflight.lint" in loaded
    assert sorted(name for name in loaded if name.startswith(HEAVY)) == []
