"""The same command copied to many roles is one finding with related places."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.diagnostics import Diagnostic, Fix, Related
from preflight.engines.base import Launch

_OF_A_ROLE = frozenset({"host", "port", "node-rank", "dist-init-addr", "nccl-port", "served-model-name", "base-gpu-id"})
"""Settings that tell copies of one command apart."""


def merged(diagnostics: Sequence[Diagnostic], launches: Sequence[tuple[Launch, tuple[Diagnostic, ...]]]) -> list[Diagnostic]:
    """The findings of later copies of a command become related places, and their edits part of the fix, of the first."""
    commands = {id(diagnostic): _command(launch) for launch, own in launches for diagnostic in own}
    first: dict[tuple[object, ...], int] = {}
    kept: list[Diagnostic] = []
    for diagnostic in diagnostics:
        command = commands.get(id(diagnostic))
        key = (command, diagnostic.rule.code, diagnostic.message, diagnostic.severity)
        if command is None or key not in first:
            first[key] = len(kept)
            kept.append(diagnostic)
        else:
            kept[first[key]] = _with_copy(kept[first[key]], diagnostic)
    return kept


def _command(launch: Launch) -> tuple[object, ...]:
    uses = tuple((use.name, repr(use.value)) for use in launch.uses if use.name not in _OF_A_ROLE)
    return launch.engine.name, launch.version.text, uses


def _with_copy(one: Diagnostic, copy: Diagnostic) -> Diagnostic:
    if copy.at == one.at:
        return one
    related = (*one.related, Related(copy.at, "the same here"))
    return one._replace(related=related, fixes=tuple(_joined(fix, copy) for fix in one.fixes))


def _joined(fix: Fix, copy: Diagnostic) -> Fix:
    """The fix with the edits of its twin, so that one fix mends all copies."""
    twin = next((other for other in copy.fixes if other.title == fix.title), None)
    if twin is None:
        return fix
    return fix._replace(edits=(*fix.edits, *(edit for edit in twin.edits if edit not in fix.edits)))
