"""`preflight lint`: files in, a report and an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import BinaryIO, TextIO

from preflight.cli.arguments import Arguments, parsed
from preflight.cli.files import expand
from preflight.cli.reporting import write_report
from preflight.cli.session import Choice, Outcome, Session, lint_paths
from preflight.diagnostics import ERROR, WARNING
from preflight.registry import registry
from preflight.selection import UnknownSelector, selectors

CLEAN, FINDINGS, COULD_NOT_RUN = 0, 1, 2


def run(words: Sequence[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO) -> int:
    try:
        arguments = parsed(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        rules = registry().rules
        choice = Choice(
            *(tuple(selectors(rules, given)) for given in (arguments.select, arguments.extend_select, arguments.ignore))
        )
    except UnknownSelector as error:
        stderr.write(f"preflight: {error}\n")
        if arguments.format == "json":  # whoever reads it can rely on it
            write_report([], arguments, stdout, stderr)
        return COULD_NOT_RUN
    # A hook names every file there is: it is not asking about each.
    asked = () if arguments.force_exclude else arguments.paths
    session = Session(choice, config=arguments.config, no_config=arguments.no_config, named=asked)
    paths = list(dict.fromkeys(expand(arguments.paths, session, arguments)))
    if arguments.show_settings:
        return _show_settings(session, paths, stdout)
    piped = str(arguments.stdin_filename or "launch.toml") if "-" in paths else None
    outcomes = _outcomes(session, paths, piped, arguments, stdin)
    if arguments.fix or arguments.diff:
        from preflight.cli.fixing import fix

        outcomes, changed = fix(outcomes, arguments, session, piped, stdout, stderr)
        if arguments.diff:
            return COULD_NOT_RUN if _failed(outcomes) else FINDINGS if changed else CLEAN
    # Fixed standard input goes where it came from, to the next of the pipe: the report makes room.
    filtering = arguments.fix and piped is not None
    written = write_report(outcomes, arguments, stderr if filtering else stdout, stderr)
    return COULD_NOT_RUN if not written else _exit_code(outcomes, arguments.fail_on or session.fail_on or "error")


def _outcomes(session: Session, paths: list[str], piped: str | None, arguments: Arguments, stdin: BinaryIO) -> list[Outcome]:
    """Of standard input first, then of the files in their order, then of the settings that were read for them."""
    outcomes = [] if piped is None else [session.lint_piped(piped, stdin)]
    named = [path for path in paths if path != "-"]
    keep = arguments.fix or arguments.diff
    outcomes += lint_paths(session, named, arguments.jobs, keep_documents=keep)
    return outcomes + session.of_settings()


def _show_settings(session: Session, paths: list[str], stdout: TextIO) -> int:
    from preflight.settings import shown

    for path in paths:
        stdout.write(f"{path}\n")
        for line in shown(session.settings(path), path):
            stdout.write(f"  {line.key} = {line.value}  # {line.origin}\n")
    return CLEAN


def _failed(outcomes: list[Outcome]) -> bool:
    return any(outcome.failed for outcome in outcomes)


def _exit_code(outcomes: list[Outcome], fail_on: str) -> int:
    if _failed(outcomes):
        return COULD_NOT_RUN
    least = {"error": ERROR, "warning": WARNING}.get(fail_on)
    if least is None:
        return CLEAN
    found = any(diagnostic.severity >= least for outcome in outcomes for diagnostic in outcome.diagnostics)
    return FINDINGS if found else CLEAN


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
