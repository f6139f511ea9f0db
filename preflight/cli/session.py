"""One run of lint: which settings hold for a file, and what the file comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO

from preflight.cli.files import Unreadable, may_be_log, read_file, read_stdin, readable
from preflight.diagnostics import ERROR, Diagnostic, Finding, Problem
from preflight.engines.resolve import NO_CONTEXT, Context
from preflight.judge import of_problem
from preflight.lint import lint_document
from preflight.records import NamedTuple
from preflight.registry import registry
from preflight.selection import Selection, UnknownSelector, selection, selectors
from preflight.settings import Settings, SettingsLookup, load_settings, unknown_codes
from preflight.suppressions import names_of
from preflight.text import Document

NO_LAUNCH = "CFG012"


class Outcome(NamedTuple):
    """What one file came to. `failed`: it could not be read, or we have a bug."""

    document: Document | None
    diagnostics: tuple[Diagnostic, ...]
    launches: int = 0
    failed: bool = False
    internal_errors: tuple[str, ...] = ()
    counts: int = 1
    """Whether it counts as a file of the report: settings do not."""


class Choice(NamedTuple):
    """Selectors of the command line, already checked."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class Session:
    """Finds and reads settings once, and lints documents by them."""

    def __init__(self, choice: Choice, *, config: str | None = None, no_config: bool = False, named: Iterable[str] = ()) -> None:
        self._choice = choice
        self._named = frozenset(named)
        """Files that the caller asked about one by one: silence about them has to be explained."""
        self._lookup = None if no_config or config is not None else SettingsLookup()
        self._added = None if no_config else self._lookup or SettingsLookup()
        self._fixed = None if config is None or no_config else (load_settings(config) or _no_settings(config))
        self._seen: dict[str, Settings] = {}

    def settings(self, path: str) -> Settings | None:
        """The settings that hold for `path`."""
        found = self._fixed if self._lookup is None else self._lookup.for_path(path)
        if found is not None:
            self._seen[found.document.path] = found
        return found

    @property
    def fail_on(self) -> str | None:
        """What the settings say; where several were read, the strictest."""
        said = {found.fail_on.value for found in self._seen.values() if found.fail_on is not None}
        return next((word for word in ("warning", "error", "never") if word in said), None)

    def excludes(self, path: str) -> bool:
        found = self.settings(path)
        return found is not None and found.excludes(path)

    def lint_path(self, path: str) -> Outcome:
        """A file as it is on disk; a boot log of any size is streamed."""
        if may_be_log(path) and readable(path):
            outcome = self._lint_log(path)
            if outcome is not None:
                return outcome
        return self.lint(read_file(path))

    def _lint_log(self, path: str) -> Outcome | None:
        """None where the file is no boot log."""
        from preflight.logs.lint import lint_log
        from preflight.logs.sniff import holds_boot

        context, chosen = self.circumstances(path)
        try:
            if not holds_boot(path):
                return None if path in self._named else Outcome(None, ())
            result = lint_log(path, context, chosen)
        except (OSError, ValueError):
            return None  # reading it once more says why
        return Outcome(result.document, result.diagnostics, len(result.boots))

    def lint_piped(self, path: str, stream: BinaryIO) -> Outcome:
        """Standard input, taken for `path`; a boot log of any length is streamed."""
        if not may_be_log(path):
            return self.lint(read_stdin(path, stream))
        from preflight.logs.lint import lint_stream

        result = lint_stream(path, stream, *self.circumstances(path))
        return Outcome(result.document, result.diagnostics, len(result.boots))

    def circumstances(self, path: str) -> tuple[Context, Selection]:
        """What the settings say of a file, and the rules that they and the command line choose."""
        found = self.settings(path)
        if found is None:
            project = self._adds_releases(path)
            return NO_CONTEXT if project is None else Context(project=project), self._selection(None, ())
        said = found.for_file(path)
        ignored = [code.value for code in said.ignore]
        return Context(said.tables, said.engine_version, self._adds_releases(path)), self._selection(found, ignored)

    def _adds_releases(self, path: str) -> str | None:
        """The nearest folder above a file, in its repository, that adds releases to the flag history."""
        return None if self._added is None else self._added.added_releases(path)

    def lint(self, document: Document | Unreadable) -> Outcome:
        if isinstance(document, Unreadable):
            return Outcome(None, (document.diagnostic,), failed=True)
        context, chosen = self.circumstances(document.path)
        result = lint_document(document, context, chosen)
        diagnostics = result.diagnostics
        silent = not result.reading.sites and not result.reading.problems
        if silent and document.path in self._named and chosen.holds(NO_LAUNCH):
            diagnostics = (*diagnostics, of_problem(_no_launch(document), registry()))
        return Outcome(result.document, diagnostics, len(result.launches), bool(result.internal_errors), result.internal_errors)

    def _selection(self, found: Settings | None, ignored: Sequence[str]) -> Selection:
        """The command line wins over the settings key by key; what it ignores comes on top."""
        rules, choice = registry().rules, self._choice
        if found is None:
            return selection(rules, *choice)
        select = choice.select or _known(code.value for code in found.select)
        extend = [*choice.extend_select, *_known(code.value for code in found.extend_select)]
        ignore = [*choice.ignore, *_known([*(code.value for code in found.ignore), *ignored])]
        return selection(rules, select, extend, ignore)

    def of_settings(self) -> list[Outcome]:
        """The settings are linted too; broken ones mean that the run says nothing for sure."""
        rules = registry()
        outcomes = []
        for found in self._seen.values():
            problems = [*found.problems, *unknown_codes(found, names_of(rules.rules.values()))]
            diagnostics = tuple(of_problem(problem, rules) for problem in problems)
            if diagnostics:
                broken = any(diagnostic.severity >= ERROR for diagnostic in diagnostics)
                outcomes.append(Outcome(None, diagnostics, failed=broken, counts=0))
        return outcomes


def _no_launch(document: Document) -> Problem:
    message = (
        f"No launch is found in {document.path}, so nothing of it was checked. A launch is a TOML file that names an engine, or "
        "a command that starts one."
    )
    return Problem(NO_LAUNCH, Finding(message, document.place(0, 0)))


def _no_settings(path: str) -> Settings:
    return Settings(Document(path, ""))


def _known(codes: Iterable[str]) -> list[str]:
    """Codes of the settings that a rule has; the others are reported as diagnostics of the settings."""
    rules = registry().rules
    kept: list[str] = []
    for code in codes:
        try:
            kept += selectors(rules, [code])
        except UnknownSelector:
            continue
    return kept


_MANY = 48
"""From so many files on, processes share the work."""
_worker: Session | None = None


def lint_paths(session: Session, paths: list[str], jobs: int, *, keep_documents: bool) -> list[Outcome]:
    """The outcomes of files, in the order of `paths`. Without `keep_documents` texts that nothing was found in are let go."""
    for path in paths:
        session.settings(path)
    workers = jobs or _processors()
    if len(paths) < _MANY or workers < 2:
        return [_lightened(session.lint_path(path), keep_documents) for path in paths]
    from concurrent.futures import ProcessPoolExecutor
    from functools import partial
    from multiprocessing import get_all_start_methods, get_context

    context = get_context("fork" if "fork" in get_all_start_methods() else None)
    first = _lightened(session.lint_path(paths[0]), keep_documents)  # what every lint loads is loaded before the processes part
    rest = paths[1:]
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(session,)) as pool:
        size = max(1, min(64, len(rest) // (workers * 4)))
        return [first, *pool.map(partial(_in_worker, keep_documents), rest, chunksize=size)]


def _start_worker(session: Session) -> None:
    global _worker
    _worker = session


def _in_worker(keep_documents: bool, path: str) -> Outcome:
    assert _worker is not None
    return _lightened(_worker.lint_path(path), keep_documents)


def _lightened(outcome: Outcome, keep_documents: bool) -> Outcome:
    return outcome if keep_documents else outcome._replace(document=None)


def _processors() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
