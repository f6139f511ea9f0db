"""`preflight lint`: files in, a report and an exit code out."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TextIO

from preflight.cli.arguments import parser
from preflight.cli.files import Unreadable, expand, read_file, read_stdin
from preflight.diagnostics import ERROR, WARNING, Diagnostic
from preflight.lint import FileResult, lint_document
from preflight.registry import registry
from preflight.report.formats import HOSTS, renderer
from preflight.report.model import Options, Report, in_order
from preflight.report.stream import save, use_color, width_of, write
from preflight.selection import Selection, UnknownSelector, selection
from preflight.text import Document

if TYPE_CHECKING:
    from preflight.report.sarif import Description

CLEAN, FINDINGS, COULD_NOT_RUN = 0, 1, 2


class Outcome(NamedTuple):
    """What one file came to."""

    document: Document | None
    diagnostics: tuple[Diagnostic, ...]
    launches: int = 0
    failed: bool = False
    internal_errors: tuple[str, ...] = ()


def run(words: Sequence[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO) -> int:
    try:
        arguments = parser().parse_args(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        chosen = selection(registry().rules, arguments.select, arguments.extend_select, arguments.ignore)
    except UnknownSelector as error:
        stderr.write(f"preflight: {error}\n")
        return COULD_NOT_RUN
    outcomes = [_lint(document, chosen) for document in _documents(arguments, stdin)]
    if arguments.fix or arguments.diff:
        outcomes, changed = _fix(outcomes, arguments, chosen, stdout, stderr)
        if arguments.diff:
            return COULD_NOT_RUN if _failed(outcomes) else FINDINGS if changed else CLEAN
    # Fixed standard input goes where it came from, to the next of the pipe: the report makes room.
    filtering = arguments.fix and "-" in arguments.paths
    _report(outcomes, arguments, stderr if filtering else stdout, stderr)
    return _exit_code(outcomes, arguments.fail_on)


def _documents(arguments: Namespace, stdin: BinaryIO) -> list[Document | Unreadable]:
    documents: list[Document | Unreadable] = []
    for path in dict.fromkeys(expand(arguments.paths)):
        if path == "-":
            documents.append(read_stdin(_stdin_name(arguments), stdin))
        else:
            documents.append(read_file(path))
    return documents


def _stdin_name(arguments: Namespace) -> str:
    return str(arguments.stdin_filename or "launch.toml")


def _lint(document: Document | Unreadable, chosen: Selection) -> Outcome:
    if isinstance(document, Unreadable):
        return Outcome(None, (document.diagnostic,), failed=True)
    return _outcome(lint_document(document), chosen)


def _outcome(result: FileResult, chosen: Selection) -> Outcome:
    kept = tuple(diagnostic for diagnostic in result.diagnostics if chosen.holds(diagnostic.rule.code))
    return Outcome(result.document, kept, len(result.launches), bool(result.internal_errors), result.internal_errors)


def _fix(
    outcomes: list[Outcome], arguments: Namespace, chosen: Selection, stdout: TextIO, stderr: TextIO
) -> tuple[list[Outcome], bool]:
    """Applies fixes and says what was done; with --diff shows it instead. The second part: whether anything changed."""
    from preflight.fix import bugs, fix_all, summary, unified_diff
    from preflight.fix import write as replace_file
    from preflight.report.escape import escape_lines
    from preflight.report.stream import write_document

    before = {outcome.document.path: outcome.document for outcome in outcomes if outcome.document is not None}
    relinted: dict[str, Outcome] = {outcome.document.path: outcome for outcome in outcomes if outcome.document is not None}

    def relint(documents: object) -> list[Diagnostic]:
        assert isinstance(documents, dict)
        for path, document in documents.items():
            if relinted[path].document is not document:
                relinted[path] = _lint(document, chosen)
        return [diagnostic for outcome in relinted.values() for diagnostic in outcome.diagnostics]

    diagnostics = [diagnostic for outcome in relinted.values() for diagnostic in outcome.diagnostics]
    fixed = fix_all(before, diagnostics, relint, _parses, unsafe=arguments.unsafe_fixes)
    for line in bugs(fixed):
        stderr.write(f"preflight: {line}\n")
    changed = [path for path, document in fixed.documents.items() if document.text != before[path].text]
    if arguments.diff:
        diff = "".join(unified_diff(before[path], fixed.documents[path]) for path in changed)
        write(stdout, escape_lines(diff) if stdout.isatty() else diff)
        return outcomes, bool(changed)
    piped = _stdin_name(arguments) if "-" in arguments.paths else None
    if piped is not None and piped in fixed.documents:
        write_document(stdout, fixed.documents[piped])
    for path in changed:
        if path == piped:
            continue
        try:
            replace_file(before[path], fixed.documents[path])
        except OSError as error:
            stderr.write(f"preflight: {path} could not be written: {error}\n")
            relinted[path] = relinted[path]._replace(failed=True)
    stderr.write(f"preflight: {summary(fixed, unsafe=arguments.unsafe_fixes)}\n")
    return [relinted[outcome.document.path] if outcome.document is not None else outcome for outcome in outcomes], bool(changed)


def _parses(document: Document) -> bool:
    from preflight.lint import read

    return not any(problem.code == "CFG001" for problem in read(document).problems)


def _report(outcomes: list[Outcome], arguments: Namespace, stdout: TextIO, stderr: TextIO) -> None:
    report = Report(
        in_order(diagnostic for outcome in outcomes for diagnostic in outcome.diagnostics),
        files=len(outcomes),
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
    if arguments.output_file:
        save(arguments.output_file, text)
    else:
        write(stdout, text)
    if arguments.statistics and arguments.format not in (None, "text", "concise"):
        from preflight.report.statistics import table

        stderr.write("".join(f"{line}\n" for line in table(report)))
    if arguments.format is None and os.environ.get("GITHUB_ACTIONS") == "true":
        write(stdout, renderer("github")(report, _for_hosts(options)))


def _for_hosts(options: Options) -> Options:
    """What formats that a code host reads need besides."""
    from preflight.report.paths import repository_root

    return options._replace(root=repository_root(os.getcwd()), describe=_describe)


def _describe(code: str) -> Description:
    from preflight.report.describe import described

    rules = registry()
    return described(code, rules.documentation(code) if code in rules.modules else "")


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
