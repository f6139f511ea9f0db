"""The command line. `lint` is the hot path: it needs no more than argparse; every other word goes to the typer application."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def program() -> NoReturn:
    """The whole process. It ends without taking its objects apart one by one: that is a sixth of a small lint."""
    try:
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # whoever read the report has seen enough
        code = 1
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code is 0 clean, 1 findings, 2 could not run."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["lint"]:
        gc.set_threshold(100_000, 20, 20)  # loading makes many objects and no garbage
        from preflight.cli.lint import run

        return run(words[1:], sys.stdin.buffer, sys.stdout, sys.stderr)
    if words == ["--version"]:
        from preflight.version import VERSION

        sys.stdout.write(f"preflight {VERSION}\n")
        return 0
    from preflight.cli.app import run_app

    return run_app(words)
