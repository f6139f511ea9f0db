"""From a resolved launch to diagnostics: what the engine itself would say, and what the rules find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from preflight.diagnostics import ERROR, NOTE, WARNING, Diagnostic, Finding, Fix, Problem, Rule, Severity
from preflight.engines.base import Launch
from preflight.engines.resolve import Resolver
from preflight.engines.steps import DIES, ENGINE_DEFAULT, INLINE_DEFAULT, REFUSES, SETS, Event, Topic, show
from preflight.engines.versions import parse_version
from preflight.memory.budget import Budget
from preflight.registry import Registry

MEMORY_FAMILIES = ("MEM", "CAP")


def judge(launch: Launch, budget: Budget, resolved: Resolver, rules: Registry) -> tuple[list[Diagnostic], list[str]]:
    """What is found in one launch, and what went wrong in us."""
    found = of_trace(launch, resolved, rules)
    found += of_any_gpu(launch, resolved, rules, found)
    # A TypeError is a condition that compares what this release does not have: it says nothing, and the replay counts it.
    crashes = [(row, error) for row, error in launch.crashes if not isinstance(error, TypeError)]
    errors = [f"internal error in row {row} at {launch.site.document.path}: {error!r}" for row, error in crashes]
    for check in rules.checks:
        if check.needs == ("project",):
            continue
        try:
            found += [of_finding(finding, check.rule, launch) for finding in check(launch=launch, budget=budget)]
        except Exception as error:  # a bug of ours must not hide what the other rules found
            errors.append(f"internal error in {check.rule.code} at {launch.site.document.path}: {error!r}")
    return found, errors


def of_trace(launch: Launch, resolved: Resolver, rules: Registry) -> list[Diagnostic]:
    """What the engine itself would say of the launch, and what it would change in silence."""
    events = (_of_event(event, launch, resolved, rules) for event in launch.trace)
    return [diagnostic for diagnostic in events if diagnostic is not None]


def of_any_gpu(launch: Launch, resolved: Resolver, rules: Registry, found: list[Diagnostic]) -> list[Diagnostic]:
    """Where the GPU is not known: what the engine would say on every kind of GPU alike."""
    known = launch.hardware
    if not launch.engine.read or (known is not None and (known.compute_capability or known.vendor == "amd")):
        return []
    from preflight.hardware.types import KINDS, Hardware

    said = {_gist(diagnostic) for diagnostic in found}
    common: dict[object, Diagnostic] | None = None
    for vendor, capability in KINDS:
        if known is not None and known.vendor not in (None, vendor):
            continue
        assumed = (known or Hardware())._replace(vendor=vendor, compute_capability=capability)
        there = resolved._replace(hardware=assumed)
        more = {_gist(one): one for one in of_trace(there.at(there.versions), there, rules)}
        common = {gist: one for gist, one in (more if common is None else common).items() if gist in more and gist not in said}
        if not common:
            break
    return list((common or {}).values())


def _gist(diagnostic: Diagnostic) -> object:
    return diagnostic.rule.code, diagnostic.severity, diagnostic.message, diagnostic.at.key()


def of_problem(problem: Problem, rules: Registry) -> Diagnostic:
    """A reader's finding under the rule that documents it."""
    rule = rules.rules.get(problem.code) or Rule(problem.code, problem.code.lower(), ERROR)
    return _diagnostic(problem.finding, rule)


def _diagnostic(finding: Finding, rule: Rule) -> Diagnostic:
    severity = rule.severity if finding.severity is None else finding.severity
    stage = finding.stage if finding.stage is not None or finding.severity is not None else rule.stage
    return Diagnostic(rule, severity, stage, finding.message, finding.at, finding.related, finding.fixes, finding.data)


def of_finding(finding: Finding, rule: Rule, launch: Launch) -> Diagnostic:
    """A rule's finding, no more severe than the launch's release and inputs allow."""
    diagnostic = _diagnostic(finding, rule)
    if rule.code.startswith(MEMORY_FAMILIES):
        return _capped(diagnostic, _memory_cap(launch))
    return _capped(diagnostic, _flag_cap(launch))


def _memory_cap(launch: Launch) -> Severity:
    """Figures that hang on an overridable default, or on a release that was not read, are warnings at most."""
    overridable = any(setting.origin == INLINE_DEFAULT for setting in launch.settings.values())
    return WARNING if overridable or not launch.site.complete else launch.version.cap


def _flag_cap(launch: Launch) -> Severity:
    return launch.version.flag_cap


def _capped(diagnostic: Diagnostic, cap: Severity) -> Diagnostic:
    if diagnostic.severity <= cap:
        return diagnostic
    return diagnostic._replace(severity=cap, stage=None)


def _of_event(event: Event, launch: Launch, resolved: Resolver, rules: Registry) -> Diagnostic | None:
    """A finding from the trace: only what belongs to a topic and has something to say."""
    if event.topic is None or not event.message or _hangs_on_hidden(event, launch):
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
    return _capped(diagnostic, min(_flag_cap(launch), launch.version.argument_cap))


def _hangs_on_hidden(event: Event, launch: Launch) -> bool:
    """Whether it takes a default for given that words which cannot be seen may replace."""
    if launch.site.complete:
        return False
    return any(name in launch.settings and launch.settings[name].origin == ENGINE_DEFAULT for name in event.reads)


def _severity(event: Event) -> Severity:
    """An engine that refuses is an error, one that replaces what was given a warning, one that only fills in a note."""
    row = event.row
    if row.severity is not None:
        return row.severity
    if row.effect in (REFUSES, DIES):
        return ERROR
    return NOTE if row.effect == SETS and not event.overrides else WARNING


def _event_fixes(event: Event, launch: Launch) -> Iterator[Fix]:
    """The remedies that can be made in place: all changes of one, or none."""
    for changes in event.fixes:
        edits = [launch.edit(change.name, value) for change, value in changes]
        made = tuple(edit for edit in edits if edit is not None)
        if len(made) == len(edits):
            first = changes[0][0]
            title = first.title or _sentence([_change(change.name, value, launch) for change, value in changes])
            yield Fix(title, made, first.applicability)


def _change(name: str, value: Any, launch: Launch) -> str:
    if value is None or value is False:
        return f"remove {name}"
    return f"add {launch.flag(name)}" if value is True else f"set {name} to {show(value)}"


def _sentence(parts: list[str]) -> str:
    text = ", ".join(parts)
    return text[0].upper() + text[1:]


_HARMLESS = ("deprecated", "duplicate")
"""What the parser says of a command line that it takes all the same."""


def _newest_that_accepts(topic: Topic, resolved: Resolver) -> str | None:
    """Where the version is not given: the newest read release that does not refuse for this topic."""
    read = set(resolved.engine.read)
    for text in reversed(resolved.versions.others):
        version = parse_version(text)
        if version is None or version not in read:
            continue
        launch = resolved.at(resolved.versions._replace(version=version, text=text))
        if any(problem.kind not in _HARMLESS for problem in launch.problems):
            continue  # a release that does not know the flags accepts nothing
        if not any(event.topic == topic and event.row.effect in (REFUSES, DIES) for event in launch.trace):
            return text
    return None
