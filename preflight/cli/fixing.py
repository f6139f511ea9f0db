"""Applying fixes, or showing what they would change."""

from __future__ import annotations

from typing import TextIO

from preflight.cli.arguments import Arguments
from preflight.cli.session import Outcome, Session
from preflight.diagnostics import NOTE, Diagnostic
from preflight.fix import Documents, bugs, fix_all, summary, unified_diff
from preflight.fix import write as replace_file
from preflight.lint import read
from preflight.report.escape import escape_lines
from preflight.report.stream import write, write_document
from preflight.text import Document


def fix(
    outcomes: list[Outcome], arguments: Arguments, session: Session, piped: str | None, stdout: TextIO, stderr: TextIO
) -> tuple[list[Outcome], bool]:
    """Applies fixes and says what was done; with --diff shows it instead. The second part: whether anything changed."""
    before = {outcome.document.path: outcome.document for outcome in outcomes if outcome.document is not None}
    relinted: dict[str, Outcome] = {outcome.document.path: outcome for outcome in outcomes if outcome.document is not None}

    def relint(documents: Documents) -> list[Diagnostic]:
        for path, document in documents.items():
            if relinted[path].document is not document:
                relinted[path] = session.lint(document)
        return shown()

    def shown() -> list[Diagnostic]:
        """What nobody is told of is not fixed either: notes, without --notes."""
        found = (diagnostic for outcome in relinted.values() for diagnostic in outcome.diagnostics)
        return [diagnostic for diagnostic in found if arguments.notes or diagnostic.severity > NOTE]

    fixed = fix_all(before, shown(), relint, _parses, unsafe=arguments.unsafe_fixes)
    for line in bugs(fixed):
        stderr.write(f"preflight: {line}\n")
    changed = [path for path, document in fixed.documents.items() if document.text != before[path].text]
    if arguments.diff:
        diff = "".join(unified_diff(before[path], fixed.documents[path]) for path in changed)
        write(stdout, escape_lines(diff) if stdout.isatty() else diff)
        return outcomes, bool(changed)
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
    return not any(problem.code == "CFG001" for problem in read(document).problems)
