"""What the lint path loads of the catalogue never reads a wheel."""

from __future__ import annotations

import subprocess
import sys

LINT_PATH = "argparse_model, config_file, load, review, values, variables"


def test_the_lint_path_loads_neither_ast_nor_zipfile() -> None:
    code = f"import sys; from preflight.catalog import {LINT_PATH}; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"ast", "zipfile", "difflib"} & set(found.stdout.split()) == set()
