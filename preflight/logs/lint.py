"""Diagnostics of a boot log: which condition stopped a boot, with which numbers, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from preflight.diagnostics import DISPLAY, ERROR, NOTE, WARNING, Diagnostic, Finding, Fix, Problem
from preflight.engines.resolve import NO_CONTEXT, Context
from preflight.judge import of_problem
from preflight.launch import Reading
from preflight.lint import FileResult, Resolved
from preflight.logs.boot import CUT, Boot
from preflight.logs.document import LogDocument, document_of
from preflight.logs.explain_failure import Told, told
from preflight.logs.reader import read_log, read_stream
from preflight.logs.site import LogLaunch, launch_of
from preflight.records import NamedTuple
from preflight.registry import registry
from preflight.selection import EVERYTHING, Selection

FAILED, INCOMPLETE, IMPOSSIBLE = "OBS010", "OBS011", "OBS012"


class LogResult(NamedTuple):
    document: LogDocument
    boots: tuple[Boot, ...]
    launches: tuple[LogLaunch | None, ...]
    """One for each boot; None where its engine is not modelled or the log shows no settings."""
    diagnostics: tuple[Diagnostic, ...]


def lint_log(path: str, context: Context = NO_CONTEXT, chosen: Selection = EVERYTHING) -> LogResult:
    """All selected diagnostics of a log. Raises OSError."""
    return lint_boots(path, read_log(path), context, chosen)


def lint_stream(path: str, stream: BinaryIO, context: Context = NO_CONTEXT, chosen: Selection = EVERYTHING) -> LogResult:
    """The same of a log that is piped in, with `path` for its name."""
    return lint_boots(path, read_stream(stream), context, chosen)


def lint_boots(path: str, boots: Sequence[Boot], context: Context = NO_CONTEXT, chosen: Selection = EVERYTHING) -> LogResult:
    document = document_of(path, (boot.excerpts for boot in boots))
    launches = tuple(launch_of(boot, document, context) for boot in boots)
    rules = registry()
    found = [
        of_problem(problem, rules)
        for number, (boot, launch) in enumerate(zip(boots, launches, strict=True))
        for problem in _problems(boot, launch, document, last=number == len(boots) - 1)
    ]
    kept = tuple(sorted((one for one in found if chosen.holds(one.rule.code)), key=Diagnostic.sort_key))
    return LogResult(document, tuple(boots), launches, kept)


def _problems(boot: Boot, launch: LogLaunch | None, document: LogDocument, *, last: bool) -> Iterator[Problem]:
    for name, figure in boot.impossible.items():
        fact = f"{name} is {figure.text} on line {figure.line}"
        if figure.bytes >= 0:
            fact = f"{figure.text} are free after loading (line {figure.line}), more than before it"
        message = (
            f"{fact}: another process released memory meanwhile, so nothing is calibrated from this boot. Start it alone; "
            "`nvidia-smi` shows who else uses the GPU."
        )
        yield Problem(IMPOSSIBLE, Finding(message, document.place_of_line(figure.line), WARNING))
    if boot.failure is not None:
        yield Problem(FAILED, _failure(boot, launch, document))
    elif boot.outcome == CUT and last:
        message = (
            "The log ends before the server was ready, and shows no failure. Look for the exit code (137: ended by the kernel "
            "for "
            "main memory, see `dmesg`), or wait for the rest of the log."
        )
        yield Problem(INCOMPLETE, Finding(message, document.place_of_line(boot.line), NOTE))


def _failure(boot: Boot, launch: LogLaunch | None, document: LogDocument) -> Finding:
    failure = boot.failure
    assert failure is not None
    explained: Told = told(boot, launch)
    sure = failure.kind != "exception"
    fixes = () if explained.title is None else (Fix(explained.title, (), DISPLAY),)
    data: dict[str, object] = {"condition": failure.kind, "direction": failure.direction, "log_line": failure.line}
    return Finding(
        f"{explained.fact} {explained.remedy}",
        document.place_of_line(failure.line),
        ERROR if sure else WARNING,
        failure.stage if sure else None,
        fixes=fixes,
        data={**data, **explained.data},
    )


def as_file(result: LogResult) -> FileResult:
    """A log as the other commands take a file: `explain` shows its launches."""
    resolved = []
    for one in result.launches:
        if one is not None:
            lines = {one.boot.failure.line} if one.boot.failure is not None else set()
            own = [each for each in result.diagnostics if each.data.get("log_line") in lines]
            resolved.append(Resolved(one.launch, one.budget, tuple(own)))
    sites = tuple(one.launch.site for one in result.launches if one is not None)
    return FileResult(result.document, Reading(sites), tuple(resolved), (), (), result.diagnostics)
