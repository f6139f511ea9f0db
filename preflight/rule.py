"""How a rule is written down: its metadata, and a pure function of typed facts that yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from preflight.diagnostics import Finding, Rule
from preflight.records import NamedTuple

CheckFunction = Callable[..., Iterator[Finding]]


class Check(NamedTuple):
    """A rule's function, with the names of the facts that it asks for: launch, budget, project."""

    rule: Rule
    function: CheckFunction
    needs: tuple[str, ...]

    def __call__(self, **facts: Any) -> Iterator[Finding]:
        return self.function(*[facts[name] for name in self.needs])


def rule(meta: Rule) -> Callable[[CheckFunction], Check]:
    """Registers a function under `meta`. Its parameters say what it needs: (launch), (launch, budget) or (project)."""

    def register(function: CheckFunction) -> Check:
        code = function.__code__
        return Check(meta, function, code.co_varnames[: code.co_argcount])

    return register
