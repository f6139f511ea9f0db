"""The command line. `lint` is the hot path: it needs no more than argparse; every other word goes to the typer application."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def program() -> NoReturn:
    """The whole process. It ends without taking its objects apart one by one: that is a sixth of a small lint."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    try:
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # whoever read the report has seen enough
        code = 1
    except KeyboardInterrupt:
        code = 130
    except OSError as error:
        code = 2
        _complain(f"preflight: the report could not be written: {error}")
    os._exit(code)


def _complain(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        return


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
