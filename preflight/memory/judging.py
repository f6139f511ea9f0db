"""From a condition of an engine to a finding: an error needs proof and a fatal condition, a warning an expectation."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.diagnostics import ERROR, UNSAFE, WARNING, Finding, Fix
from preflight.engines.base import Launch
from preflight.memory.budget import Budget, Condition


def of_kind(launch: Launch, budget: Budget, kind: str) -> Iterator[Finding]:
    for condition in budget.conditions:
        if condition.kind == kind:
            yield _finding(launch, budget, condition)


def _finding(launch: Launch, budget: Budget, condition: Condition) -> Finding:
    proven = condition.proven and condition.fatal
    return Finding(
        f"{condition.fact} {condition.remedy}",
        launch.place(condition.at),
        severity=ERROR if proven else WARNING,
        stage=condition.stage if proven else None,
        fixes=tuple(_fixes(launch, budget, condition)),
        data=dict(condition.data),
    )


def _fixes(launch: Launch, budget: Budget, condition: Condition) -> Iterator[Fix]:
    """The one value that is known to do, or the fraction that leaves room; each is proved before it is shown."""
    if condition.value is not None:
        value = int(condition.value) if condition.value == int(condition.value) else condition.value
        yield from launch.fix(condition.at, value, f"Set {condition.at} to {value:g}", UNSAFE)
    elif condition.fatal and condition.stage == "kv-sizing":
        knob = budget.knob
        if knob.suggested is not None and knob.value is not None and knob.suggested > knob.value:
            yield from launch.fix(knob.setting, knob.suggested, f"Raise {knob.setting} to {knob.suggested:g}", UNSAFE)
