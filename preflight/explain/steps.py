"""What one step of each knob buys: the launch resolved again with that step, and the difference of the two ledgers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from preflight.engines.base import Launch
from preflight.engines.steps import DIES, REFUSES
from preflight.lint import Resolved
from preflight.memory.budget import Budget
from preflight.memory.range import Range
from preflight.records import NamedTuple


class Step(NamedTuple):
    """Changes of what is expected, in tokens and bytes per GPU; None where one of the two launches does not tell.

    `room` is what late consumers leave of what is kept back for them.
    """

    setting: str
    value: Any
    tokens: float | None
    pools: float | None
    room: float | None

    @property
    def idle(self) -> bool:
        return not any((self.tokens, self.pools, self.room))


def steps(resolved: Resolved) -> Iterator[Step]:
    """Steps that change something, and that the engine does not refuse."""
    launch, budget = resolved.launch, resolved.budget
    if budget.rest is None:
        return
    for setting, value in launch.engine.levers(launch, budget):
        other = launch.with_setting(setting, value)
        if other is None or _refusals(other) - _refusals(launch):
            continue
        after = other.engine.budget(other)
        step = Step(
            setting,
            value,
            _change(budget.tokens, after.tokens),
            _difference(_pools(budget), _pools(after)),
            _difference(_room(budget), _room(after)),
        )
        if not step.idle:
            yield step


def _refusals(launch: Launch) -> set[str]:
    return {event.row.id for event in launch.trace if event.row.effect in (REFUSES, DIES)}


def _pools(budget: Budget) -> float | None:
    return None if budget.kv_cache is None else budget.kv_cache.expected + (budget.state_bytes or 0.0)


def _room(budget: Budget) -> float | None:
    return None if budget.late is None or budget.headroom is None else budget.headroom.expected - budget.late.expected


def _change(before: Range | None, after: Range | None) -> float | None:
    return None if before is None or after is None else after.expected - before.expected


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
