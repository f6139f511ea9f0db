"""The whole program, in process."""

from __future__ import annotations

import io
import sys
from typing import NamedTuple
from unittest.mock import patch

from preflight.cli import main


class Run(NamedTuple):
    code: int
    stdout: str
    stderr: str


def run_cli(*words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Run:
    out, err = io.StringIO(), io.StringIO()
    plain = {"NO_COLOR": "", "FORCE_COLOR": "", "GITHUB_ACTIONS": "", **(env or {})}
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        patch.dict("os.environ", plain),
    ):
        code = main(list(words))
    return Run(code, out.getvalue(), err.getvalue())
