"""From readings to diagnostics: resolve every launch, run the rules, silence what one cause explains, prove the fixes.

The core is a library that prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

from preflight.diagnostics import ERROR, NOTE, WARNING, Diagnostic, Finding, Fix, Problem, Rule, Severity
from preflight.engines.base import Launch
from preflight.engines.registry import find_engine
from preflight.engines.resolve import NO_CONTEXT, Context, Resolver, resolver
from preflight.engines.steps import DIES, INLINE_DEFAULT, REFUSES, SETS, Event, Topic, show
from preflight.engines.versions import parse_version
from preflight.launch import Reading
from preflight.memory.budget import Budget
from preflight.readers import reader_for
from preflight.registry import Registry, registry
from preflight.rule import Check
from preflight.suppressions import names_of, suppress
from preflight.text import Document, apply_edits

_CAUSES = {"MEM001": ("MEM002", "CAP001", "CAP002")}
"""One cause, one finding: what a code silences in its launch."""
_MEMORY_FAMILIES = ("MEM", "CAP")
_READERS_OWN = ("CFG", "UNT")


class Resolved(NamedTuple):
    """A launch with what was found in it."""

    launch: Launch
    budget: Budget
    diagnostics: tuple[Diagnostic, ...]


class FileResult(NamedTuple):
    document: Document
    reading: Reading
    launches: tuple[Resolved, ...]
    diagnostics: tuple[Diagnostic, ...]
    internal_errors: tuple[str, ...] = ()


def lint_document(document: Document, context: Context = NO_CONTEXT) -> FileResult:
    """All diagnostics of one document, sorted, each fix proved."""
    result = examine(document, context)
    launches: list[Resolved] = []
    proved: list[Diagnostic] = []
    for resolved in result.launches:
        own = tuple(diagnostic._replace(fixes=_proved(diagnostic, result, context)) for diagnostic in _without_effects(resolved))
        launches.append(resolved._replace(diagnostics=own))
        proved += own
    of_launches = {id(diagnostic) for resolved in result.launches for diagnostic in resolved.diagnostics}
    others = [diagnostic for diagnostic in result.diagnostics if id(diagnostic) not in of_launches]
    return result._replace(launches=tuple(launches), diagnostics=tuple(_sorted([*others, *proved])))


def read(document: Document) -> Reading:
    """What the reader of the document's kind makes of it; nothing where no reader knows the kind."""
    module = reader_for(document.path, document.text)
    if module is None:
        return Reading(())
    reading: Reading = import_module(module).read(document)
    return reading


def examine(document: Document, context: Context = NO_CONTEXT) -> FileResult:
    """What there is to find, before one cause silences its effects and before fixes are proved."""
    rules = registry()
    reading = read(document)
    found = [_of_problem(problem, rules) for problem in reading.problems]
    launches, errors = [], []
    for site in reading.sites:
        engine = find_engine(site.engine)
        if engine is None:
            continue
        resolved = resolver(site, engine, rules.topics, context)
        found += [_of_problem(problem, rules) for problem in resolved.problems]
        launch = resolved.at(resolved.versions)
        budget = engine.budget(launch)
        own, crashes = _judge(launch, budget, resolved, rules)
        errors += crashes
        launches.append(Resolved(launch, budget, tuple(own)))
        found += own
    if reading.suppressions:
        found, wrong = suppress(found, reading.suppressions, names_of(rules.rules.values()), _ran(launches, rules))
        found += [_of_problem(problem, rules) for problem in wrong]
    return FileResult(document, reading, tuple(launches), tuple(found), tuple(errors))


def _ran(launches: Sequence[Resolved], rules: Registry) -> set[str]:
    """The rules of which it can be said that they found nothing: those that see one launch at a time, of a launch that was
    judged, and about memory only where it is known."""
    between = {check.rule.code for check in rules.checks if not set(check.needs) <= {"launch", "budget"}}
    known = all(one.budget.tokens is not None for one in launches)
    seen = {code for code in rules.rules if code not in between and (known or not code.startswith(_MEMORY_FAMILIES))}
    return seen if launches else {code for code in seen if code.startswith(_READERS_OWN)}


def _judge(launch: Launch, budget: Budget, resolved: Resolver, rules: Registry) -> tuple[list[Diagnostic], list[str]]:
    found = of_trace(launch, resolved, rules)
    errors = [f"internal error in row {row} at {launch.site.document.path}: {error!r}" for row, error in launch.crashes]
    for check in rules.checks:
        if not set(check.needs) <= {"launch", "budget"}:
            continue
        try:
            found += [_of_finding(finding, check.rule, launch) for finding in _findings(check, launch, budget)]
        except Exception as error:  # a bug of ours must not hide what the other rules found
            errors.append(f"internal error in {check.rule.code} at {launch.site.document.path}: {error!r}")
    return found, errors


def of_trace(launch: Launch, resolved: Resolver, rules: Registry) -> list[Diagnostic]:
    """What the engine itself would say of the launch, and what it would change in silence."""
    events = (_of_event(event, launch, resolved, rules) for event in launch.trace)
    return [diagnostic for diagnostic in events if diagnostic is not None]


def _findings(check: Check, launch: Launch, budget: Budget) -> Iterator[Finding]:
    return check(launch=launch, budget=budget)


def _of_problem(problem: Problem, rules: Registry) -> Diagnostic:
    rule = rules.rules.get(problem.code) or Rule(problem.code, problem.code.lower(), ERROR)
    return _diagnostic(problem.finding, rule)


def _diagnostic(finding: Finding, rule: Rule) -> Diagnostic:
    severity = rule.severity if finding.severity is None else finding.severity
    stage = finding.stage if finding.stage is not None or finding.severity is not None else rule.stage
    return Diagnostic(rule, severity, stage, finding.message, finding.at, finding.related, finding.fixes, finding.data)


def _of_finding(finding: Finding, rule: Rule, launch: Launch) -> Diagnostic:
    diagnostic = _diagnostic(finding, rule)
    if rule.code.startswith(_MEMORY_FAMILIES):
        return _capped(diagnostic, _memory_cap(launch))
    return _capped(diagnostic, _flag_cap(launch))


def _memory_cap(launch: Launch) -> Severity:
    """Figures that hang on an overridable default, or on a release that was not read, are warnings at most."""
    overridable = any(setting.origin == INLINE_DEFAULT for setting in launch.settings.values())
    return WARNING if overridable or not launch.site.complete else launch.version.cap


def _flag_cap(launch: Launch) -> Severity:
    return WARNING if launch.version.given is not None and launch.version.cap < ERROR else ERROR


def _capped(diagnostic: Diagnostic, cap: Severity) -> Diagnostic:
    if diagnostic.severity <= cap:
        return diagnostic
    return diagnostic._replace(severity=cap, stage=None)


def _of_event(event: Event, launch: Launch, resolved: Resolver, rules: Registry) -> Diagnostic | None:
    """A finding from the trace: only what belongs to a topic and has something to say."""
    if event.topic is None or not event.message:
        return None
    row = event.row
    fatal = row.effect in (REFUSES, DIES)
    severity = _severity(event)
    if any(name in launch.settings and launch.settings[name].origin == INLINE_DEFAULT for name in event.reads):
        severity = min(severity, WARNING)
    if not event.sure:
        severity = Severity(max(severity - 1, NOTE))
    message = event.message
    if fatal and severity == ERROR and launch.version.given is None:
        accepts = _newest_that_accepts(event.topic, resolved)
        if accepts is not None:
            severity = WARNING
            message = f"{message} (Works up to {launch.engine.title} {accepts}.)"
    at = row.at or event.name
    place = launch.place(at) if at is not None else launch.head
    stage = (row.stage or "arguments") if fatal and severity == ERROR else None
    diagnostic = Diagnostic(
        rules.rules[event.topic.code],
        severity,
        stage,
        message,
        place,
        launch.related(event.reads, place),
        tuple(_event_fixes(event, launch)),
        {"row": row.id, **event.data},
    )
    return _capped(diagnostic, _flag_cap(launch))


def _severity(event: Event) -> Severity:
    """An engine that refuses is an error, one that replaces what was given a warning, one that only fills in a note."""
    row = event.row
    if row.severity is not None:
        return row.severity
    if row.effect in (REFUSES, DIES):
        return ERROR
    return NOTE if row.effect == SETS and not event.overrides else WARNING


def _event_fixes(event: Event, launch: Launch) -> Iterator[Fix]:
    for remedy, value in event.fixes:
        if value is None or value is False:
            title = f"Remove {remedy.name}"
        elif value is True:
            title = f"Add {launch.flag(remedy.name)}"
        else:
            title = f"Set {remedy.name} to {show(value)}"
        yield from launch.fix(remedy.name, value, remedy.title or title, remedy.applicability)


def _newest_that_accepts(topic: Topic, resolved: Resolver) -> str | None:
    """Where the version is not given: the newest read release that does not refuse for this topic."""
    read = set(resolved.engine.read)
    for text in reversed(resolved.versions.others):
        version = parse_version(text)
        if version is None or version not in read:
            continue
        launch = resolved.at(resolved.versions._replace(version=version, text=text))
        if not any(event.topic == topic and event.row.effect in (REFUSES, DIES) for event in launch.trace):
            return text
    return None


def _without_effects(resolved: Resolved) -> list[Diagnostic]:
    """Drops what a cause in the same launch explains."""
    codes = {diagnostic.rule.code for diagnostic in resolved.diagnostics}
    effects = {effect for cause in codes for effect in _CAUSES.get(cause, ())}
    return [diagnostic for diagnostic in resolved.diagnostics if diagnostic.rule.code not in effects]


def _proved(diagnostic: Diagnostic, result: FileResult, context: Context) -> tuple[Fix, ...]:
    """The fixes that remove their finding and add none, by our own lint."""
    return tuple(fix for fix in diagnostic.fixes if _holds(fix, diagnostic, result, context))


def _holds(fix: Fix, diagnostic: Diagnostic, result: FileResult, context: Context) -> bool:
    document = result.document
    if any(edit.path != document.path for edit in fix.edits):
        return False
    changed = Document(document.path, apply_edits(document.text, fix.edits), bom=document.bom)
    after = examine(changed, context)
    if len(after.launches) != len(result.launches):
        return False
    before_codes = _counts(result.diagnostics)
    after_codes = _counts(after.diagnostics)
    code = diagnostic.rule.code
    if after_codes.get(code, 0) >= before_codes[code]:
        return False
    return all(number <= before_codes.get(other, 0) for other, number in after_codes.items())


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
