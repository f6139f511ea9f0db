"""Writing the report of a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from preflight.cli.arguments import Arguments
from preflight.cli.session import Outcome
from preflight.registry import registry
from preflight.report.formats import HOSTS, renderer
from preflight.report.model import Options, Report, in_order
from preflight.report.stream import save, use_color, width_of, write

if TYPE_CHECKING:
    from preflight.report.sarif import Description


def write_report(outcomes: list[Outcome], arguments: Arguments, stdout: TextIO, stderr: TextIO) -> bool:
    """False where the file that was asked for cannot be written: the report goes to `stdout` then."""
    report = Report(
        in_order(diagnostic for outcome in outcomes for diagnostic in outcome.diagnostics),
        files=sum(outcome.counts for outcome in outcomes),
        launches=sum(outcome.launches for outcome in outcomes),
    )
    for line in (line for outcome in outcomes for line in outcome.internal_errors):
        stderr.write(f"preflight: {line}\n")
    options = Options(
        color=use_color(arguments.color, os.environ, isatty=stdout.isatty() and not arguments.output_file),
        notes=arguments.notes,
        statistics=arguments.statistics,
        width=width_of(stdout, os.environ),
    )
    text = renderer(arguments.format or "text")(report, _for_hosts(options) if arguments.format in HOSTS else options)
    written = True
    if arguments.output_file:
        try:
            save(arguments.output_file, text)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            stderr.write(f"preflight: the report cannot be written to {arguments.output_file}: {why}\n")
            written = False
    if not arguments.output_file or not written:
        write(stdout, text)
    if arguments.statistics and arguments.format not in (None, "text", "concise"):
        from preflight.report.statistics import table

        stderr.write("".join(f"{line}\n" for line in table(report)))
    if arguments.format is None and os.environ.get("GITHUB_ACTIONS") == "true":
        write(stdout, renderer("github")(report, _for_hosts(options)))
    return written


def _for_hosts(options: Options) -> Options:
    """What formats that a code host reads need besides."""
    from preflight.report.paths import repository_root

    return options._replace(root=repository_root(os.getcwd()), describe=_describe)


def _describe(code: str) -> Description:
    from preflight.report.describe import described

    rules = registry()
    return described(code, rules.documentation(code) if code in rules.modules else "")
