"""From readings to diagnostics: resolve every launch, run the rules, silence what one cause explains, prove the fixes.

The core is a library that prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from preflight.copies import merged
from preflight.diagnostics import NOTE, Diagnostic, Fix, Severity
from preflight.engines.base import Launch
from preflight.engines.registry import find_engine
from preflight.engines.resolve import NO_CONTEXT, Context, resolver
from preflight.judge import MEMORY_FAMILIES, judge, of_finding, of_problem
from preflight.launch import LaunchSite, Reading
from preflight.memory.budget import Budget
from preflight.readers import reader_for
from preflight.records import NamedTuple
from preflight.registry import Registry, registry
from preflight.selection import EVERYTHING, Selection
from preflight.text import Document, Place, Text, apply_edits, collide

_CAPACITY = ("CAP001", "CAP002", "CAP003", "CAP004", "CAP005")
_CAUSES = {
    "MEM003": ("MEM001", "MEM002", "MEM005", "MEM006", *_CAPACITY),
    "MEM001": ("MEM002", "MEM005", "MEM006", *_CAPACITY),
    "MEM005": _CAPACITY,
    "MEM006": _CAPACITY,
    "CAP003": ("CAP001", "CAP002"),
    "UNT050": ("MEM001", "MEM002", "MEM003", "MEM005", "MEM006", *_CAPACITY),
}
"""One cause, one finding: what a code silences in its launch."""
_READERS_OWN = ("CFG", "UNT")
_OWN_COMMENTS = "preflight.readers.launch_file"
"""The reader that keeps the comments of its files."""
_OF_A_HISTORY = ("FLG0",)
"""Rules on flags that need the engine's flag history."""


class Resolved(NamedTuple):
    """A launch with what was found in it."""

    launch: Launch
    budget: Budget
    diagnostics: tuple[Diagnostic, ...]


class Project(NamedTuple):
    """What rules between launches see: the launches of one document."""

    launches: tuple[Resolved, ...]


class Judged(NamedTuple):
    """One launch, the problems of resolving it, and what went wrong in us."""

    resolved: Resolved | None
    problems: tuple[Diagnostic, ...] = ()
    errors: tuple[str, ...] = ()


Seen = dict[object, Judged]
"""What launches came to, by what they say."""


class FileResult(NamedTuple):
    """What there is to say of one document. `others` belongs to no single launch."""

    document: Document
    reading: Reading
    launches: tuple[Resolved, ...]
    others: tuple[Diagnostic, ...]
    internal_errors: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is reported: selected, not suppressed, sorted."""


def lint_document(document: Document, context: Context = NO_CONTEXT, chosen: Selection = EVERYTHING) -> FileResult:
    """All selected diagnostics of one document, each fix proved."""
    seen: Seen = {}
    result = examine(document, context, seen)
    launches = [_without_effects(resolved.diagnostics) for resolved in result.launches]
    candidates = [
        Candidate(number, diagnostic, fix)
        for number, diagnostics in (*enumerate(launches), (None, list(result.others)))
        for diagnostic in diagnostics
        if diagnostic.fixes and chosen.holds(diagnostic.rule.code)
        for fix in diagnostic.fixes
    ]
    holding = {id(candidate.fix) for candidate in prove(candidates, result, context, seen)} if candidates else set()

    def proved(diagnostic: Diagnostic) -> Diagnostic:
        if not diagnostic.fixes or not chosen.holds(diagnostic.rule.code):
            return diagnostic
        return diagnostic._replace(fixes=tuple(fix for fix in diagnostic.fixes if id(fix) in holding))

    result = result._replace(
        launches=tuple(
            resolved._replace(diagnostics=tuple(map(proved, diagnostics)))
            for resolved, diagnostics in zip(result.launches, launches, strict=True)
        ),
        others=tuple(map(proved, result.others)),
    )
    return result._replace(diagnostics=tuple(_reported(result, chosen)))


def _reported(result: FileResult, chosen: Selection) -> list[Diagnostic]:
    """Suppression before selection: every rule ran, whether it is reported or not, so what hides nothing is known."""
    kept = _all(result)
    suppressions = result.reading.suppressions
    if suppressions:
        from preflight.suppressions import names_of, suppress

        rules = registry()
        kept, wrong = suppress(kept, suppressions, names_of(rules.rules.values()), _ran(result, rules))
        kept += [of_problem(problem, rules) for problem in wrong]
    kept = [diagnostic for diagnostic in kept if chosen.holds(diagnostic.rule.code)]
    if len(result.launches) > 1:
        kept = merged(kept, [(resolved.launch, resolved.diagnostics) for resolved in result.launches])
    return _sorted(kept)


def read(document: Document) -> Reading:
    """What the reader of the document's kind makes of it; nothing where no reader knows the kind."""
    module = reader_for(document.path, document.text)
    if module is None:
        return Reading(())
    reading: Reading = import_module(module).read(document)
    if module == _OWN_COMMENTS or "preflight" not in document.text.lower():
        return reading
    from preflight.comments import with_comments

    return with_comments(document, reading, indented=module.endswith(".manifest"))


def examine(document: Document, context: Context = NO_CONTEXT, seen: Seen | None = None, *, reuse: bool = False) -> FileResult:
    """What there is to find, before one cause silences its effects and before fixes are proved. `seen` is filled; with `reuse`
    a launch that is in it is not judged again, so its places are those of then."""
    rules = registry()
    try:
        reading = read(document)
    except Exception as error:  # a bug of ours must not hide what is found in other files
        return FileResult(document, Reading(()), (), (), (f"internal error while reading {document.path}: {error!r}",))
    others = [of_problem(problem, rules) for problem in reading.problems]
    launches: list[Resolved] = []
    errors: list[str] = []
    for site in reading.sites:
        key = facts(site) if seen is not None and len(reading.sites) > 1 else None
        judged = seen.get(key) if seen is not None and reuse else None
        if judged is None:
            judged = _judged(site, context, rules)
            if seen is not None and key is not None:
                seen[key] = judged
        others += judged.problems
        errors += judged.errors
        if judged.resolved is not None:
            launches.append(judged.resolved)
    others += _between(tuple(launches), rules, errors)
    return FileResult(document, reading, tuple(launches), tuple(others), tuple(errors))


def _judged(site: LaunchSite, context: Context, rules: Registry) -> Judged:
    engine = find_engine(site.engine, context.project)
    if engine is None:
        return Judged(None)
    try:
        resolved = resolver(site, engine, rules.topics, context)
        problems = tuple(of_problem(problem, rules) for problem in resolved.problems)
        launch = resolved.at(resolved.versions)
        budget = engine.budget(launch)
    except Exception as error:  # a bug of ours must not hide what is found in other launches
        return Judged(None, errors=(f"internal error while resolving {site.document.path}: {error!r}",))
    own, crashes = judge(launch, budget, resolved, rules)
    return Judged(Resolved(launch, budget, tuple(own)), problems, tuple(crashes))


def facts(value: object) -> object:
    """What a launch site says, without where: equal for sites that are judged alike."""
    if isinstance(value, Place | Text | Document):
        return None
    if isinstance(value, Mapping):
        return tuple((name, facts(one)) for name, one in value.items())
    if isinstance(value, tuple | list):
        return tuple(facts(one) for one in value)
    return value if isinstance(value, str | int | float | bool) else type(value)


def _between(launches: tuple[Resolved, ...], rules: Registry, errors: list[str]) -> list[Diagnostic]:
    """What the rules between launches find."""
    if not launches:
        return []
    found: list[Diagnostic] = []
    for check in rules.checks:
        if check.needs != ("project",):
            continue
        try:
            found += [of_finding(finding, check.rule, launches[0].launch) for finding in check(project=Project(launches))]
        except Exception as error:  # a bug of ours must not hide what the other rules found
            errors.append(f"internal error in {check.rule.code} at {launches[0].launch.site.document.path}: {error!r}")
    return found


def _ran(result: FileResult, rules: Registry) -> set[str]:
    """The rules of which it can be said that they found nothing: those that see one launch at a time, of a launch that was
    judged, and about memory only where it is known."""
    between = {check.rule.code for check in rules.checks if check.needs == ("project",)}
    if not any(one.launch.engine.read for one in result.launches):  # an engine without rows and flag history
        between |= {code for code in rules.rules if code.startswith(_OF_A_HISTORY)} | _of_rows(rules)
    known = all(one.budget.tokens is not None for one in result.launches)
    seen = {code for code in rules.rules if code not in between and (known or not code.startswith(MEMORY_FAMILIES))}
    return seen if result.launches else {code for code in seen if code.startswith(_READERS_OWN)}


def _of_rows(rules: Registry) -> set[str]:
    return {topic.code for _row, topic in rules.topics}


def _without_effects(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Drops what a cause in the same launch explains; a cause that is only likely explains no error."""
    worst: dict[str, Severity] = {}
    for cause in diagnostics:
        for effect in _CAUSES.get(cause.rule.code, ()):
            worst[effect] = max(worst.get(effect, cause.severity), cause.severity)
    return [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.rule.code not in worst or diagnostic.severity > worst[diagnostic.rule.code]
    ]


def _all(result: FileResult) -> list[Diagnostic]:
    return [*result.others, *(diagnostic for resolved in result.launches for diagnostic in resolved.diagnostics)]


class Candidate(NamedTuple):
    """A fix to be proved, and the number of its launch; None where its finding belongs to no single launch."""

    launch: int | None
    diagnostic: Diagnostic
    fix: Fix


def prove(candidates: Iterable[Candidate], result: FileResult, context: Context, seen: Seen) -> Iterator[Candidate]:
    """Those that remove their finding and add none, by our own lint.

    Fixes of different launches are tried together, one of each at a time: a lint for each fix would take the square of a long
    file's time.
    """
    rounds: list[list[Candidate]] = []
    tried: dict[int, int] = {}
    for candidate in candidates:
        if candidate.launch is None:
            rounds.append([candidate])
            continue
        turn = tried[candidate.launch] = tried.get(candidate.launch, -1) + 1
        while len(rounds) <= turn:
            rounds.append([])
        rounds[turn].append(candidate)
    for together in rounds:
        yield from _prove_together(together, result, context, seen)


def _prove_together(together: list[Candidate], result: FileResult, context: Context, seen: Seen) -> Iterator[Candidate]:
    after = _with(together, result, context, seen)
    if after is None:  # some may hold all the same
        middle = len(together) // 2
        for half in (together[:middle], together[middle:]) if middle else ():
            yield from _prove_together(half, result, context, seen)
        return
    for candidate in together:
        now, then = _concerning(candidate, after), _concerning(candidate, result)
        if _removes(candidate.diagnostic, now, then) and _no_more(now, then):
            yield candidate


def _with(together: list[Candidate], result: FileResult, context: Context, seen: Seen) -> FileResult | None:
    """The document with the fixes; None where they collide, or change more than their own launches for the worse."""
    document = result.document
    edits = list(dict.fromkeys(edit for candidate in together for edit in candidate.fix.edits))
    if collide(edits) or any(edit.path != document.path for edit in edits):
        return None
    after = examine(Document(document.path, apply_edits(document.text, edits), bom=document.bom), context, seen, reuse=True)
    if len(after.launches) != len(result.launches) or not _no_more(after.others, result.others):
        return None
    concerned = {candidate.launch for candidate in together}
    others = [number for number in range(len(result.launches)) if number not in concerned]
    spared = all(_no_more(after.launches[number].diagnostics, result.launches[number].diagnostics) for number in others)
    return after if spared else None


def _concerning(candidate: Candidate, result: FileResult) -> tuple[Diagnostic, ...]:
    return result.others if candidate.launch is None else result.launches[candidate.launch].diagnostics


def _removes(diagnostic: Diagnostic, now: Iterable[Diagnostic], then: Iterable[Diagnostic]) -> bool:
    def count(diagnostics: Iterable[Diagnostic]) -> int:
        return sum(one.rule.code == diagnostic.rule.code and one.severity >= diagnostic.severity for one in diagnostics)

    return count(now) < count(then)


def _no_more(now: Iterable[Diagnostic], then: Iterable[Diagnostic]) -> bool:
    before = _counts(then)
    return all(number <= before.get(code, 0) for code, number in _counts(now).items())


def _counts(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """Warnings and errors by code; a note is no reason against a fix."""
    counts: dict[str, int] = {}
    for diagnostic in diagnostics:
        if diagnostic.severity > NOTE:
            counts[diagnostic.rule.code] = counts.get(diagnostic.rule.code, 0) + 1
    return counts


def _sorted(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """By place, exact duplicates dropped (a YAML alias is visited twice)."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        unique.setdefault((*diagnostic.sort_key(), diagnostic.severity), diagnostic)
    return sorted(unique.values(), key=Diagnostic.sort_key)
