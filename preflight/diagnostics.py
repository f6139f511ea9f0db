"""What is reported: rules, findings, diagnostics, fixes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from preflight.records import NamedTuple
from preflight.text import Edit, Place


class Severity(IntEnum):
    NOTE = 0
    WARNING = 1
    ERROR = 2

    @property
    def word(self) -> str:
        return self.name.lower()


NOTE, WARNING, ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR

SAFE, UNSAFE, DISPLAY = "safe", "unsafe", "display"
"""SAFE: the same launch, or one that could not start and had one remedy. UNSAFE: a judgement. DISPLAY: never applied."""

STAGES = ("arguments", "init", "load", "kv-sizing", "capture", "serving")
"""When a launch would fail, in the order of a boot."""


class Rule(NamedTuple):
    """A mistake that a user would name. `severity` and `stage` are the worst that its findings have."""

    code: str
    name: str
    severity: Severity
    stage: str | None = None
    aliases: tuple[str, ...] = ()


class Fix(NamedTuple):
    """`title` is imperative. All edits apply, or none."""

    title: str
    edits: tuple[Edit, ...]
    applicability: str


class Related(NamedTuple):
    place: Place
    label: str


class Finding(NamedTuple):
    """What a rule or a reader yields, before suppression. Without `severity` and `stage`: those of its rule."""

    message: str
    at: Place
    severity: Severity | None = None
    stage: str | None = None
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    data: Mapping[str, object] = {}


class Problem(NamedTuple):
    """A finding that a reader makes, by the code of the rule that documents it."""

    code: str
    finding: Finding


class Diagnostic(NamedTuple):
    """What is reported. `stage` says when the launch would fail, None where nothing fails."""

    rule: Rule
    severity: Severity
    stage: str | None
    message: str
    at: Place
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    data: Mapping[str, object] = {}

    def sort_key(self) -> tuple[str, int, int, str, str]:
        return self.at.path, self.at.span.start, self.at.span.end, self.rule.code, self.message
