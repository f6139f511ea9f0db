"""A comparison as text for 100 columns, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from preflight.drift.compare import Difference, Effect, Unseen, culprits
from preflight.drift.sides import Side
from preflight.engines.steps import UNKNOWN
from preflight.memory.budget import Budget
from preflight.memory.range import Range
from preflight.records import NamedTuple
from preflight.units import GIB

WIDTH = 100
_COLUMN = 32


class Comparison(NamedTuple):
    a: Side
    b: Side
    settings: list[Difference]
    others: int
    """Settings that differ because the releases differ, and move no memory."""
    effects: list[Effect]
    environment: list[tuple[str, str | None, str | None]]
    unseen: list[Unseen]
    borrowed: bool = False
    """Whether B has no figures of its own and is judged by those of A's boot."""


def as_text(found: Comparison) -> str:
    return "\n".join(_lines(found))


def _lines(found: Comparison) -> Iterator[str]:
    a, b = found.a, found.b
    for letter, side in (("A", a), ("B", b)):
        yield f"{letter}  {side.path}:{side.line}: {_title(side)}"
    yield from _answer(found)
    yield from _settings(found)
    yield from _effects(found)
    yield from _memory(a, b)
    if found.borrowed:
        yield "  B is judged by the free memory that A measured: engine, model and parallel sizes are the same."
    for letter, side in (("A", a), ("B", b)):
        yield from _findings(letter, side)
    yield ""
    yield "Not shown by the files; run these where each was started:"
    for one in found.unseen:
        yield f"  {one.what:<{_COLUMN}}{one.command}"


def _title(side: Side) -> str:
    launch = side.launch
    version = launch.version.given or f"(version not given; judged as {launch.version.text})"
    parts = [f"{launch.engine.title} {version}", launch.profile_names.get("model") or "", side.outcome]
    return ", ".join(part for part in parts if part)


def _answer(found: Comparison) -> Iterator[str]:
    """The short of it, where one difference explains the failure."""
    causes = culprits(found.a, found.effects)
    if not causes or not (found.b.fails or found.b.outcome == "failed"):
        return
    yield ""
    for one in causes:
        change = f"engine-version {shown(one.value)}" if one.what == "engine-version" else f"{one.what} {shown(one.value)}"
        reason = "the engine refuses it" if one.refused else f"{_gib(one.budget.rest)} are left for the KV cache"
        text = f"{change} explains why B does not start: with it alone, A would not start either, because {reason}."
        yield from wrap(text, WIDTH, break_on_hyphens=False)


def _settings(found: Comparison) -> Iterator[str]:
    yield ""
    if not found.settings:
        yield "No setting differs that both sides show."
    else:
        yield f"{'Settings that differ':<{_COLUMN + 2}}{'A':<{_COLUMN}}B"
        for one in found.settings:
            left, right = _who(one.a, one.a_by), _who(one.b, one.b_by)
            yield f"  {one.name:<{_COLUMN}}{left:<{_COLUMN - 1}} {right}"
    if found.others:
        yield f"  and {found.others} more whose defaults differ between the releases, without a change of memory"
    if found.environment:
        yield ""
        yield f"{'Environment that differs':<{_COLUMN + 2}}{'A':<{_COLUMN}}B"
        for name, first, second in found.environment:
            yield f"  {name:<{_COLUMN}}{_variable(found.a, first):<{_COLUMN - 1}} {_variable(found.b, second)}"


def _who(value: Any, by: str) -> str:
    return shown(value) if value is None else f"{shown(value)} ({by})"


def _variable(side: Side, value: str | None) -> str:
    return value if value is not None else "not shown" if side.boot is not None else "not set"


def shown(value: Any) -> str:
    if value is None or value is UNKNOWN:
        return "unset"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:23]}…"


def _effects(found: Comparison) -> Iterator[str]:
    if not found.effects:
        return
    yield ""
    yield f"{'What each does to A alone':<{_COLUMN + 2}}{'rest for KV cache':>18}{'KV tokens':>14}{'room for late':>15}"
    yield f"  {'A as it is':<{_COLUMN}}{_outlook(found.a.budget)}"
    for one in found.effects:
        label = one.what if one.value is None else f"{one.what} {shown(one.value)}"
        yield f"  {label:<{_COLUMN}}{_outlook(one.budget)}{_consequence(one)}"


def _outlook(budget: Budget) -> str:
    tokens = "unknown" if budget.tokens is None else f"{max(budget.tokens.expected, 0):,.0f}"
    room = None if budget.late is None or budget.headroom is None else budget.headroom.minus(budget.late)
    return f"{_gib(budget.rest):>18}{tokens:>14}{_gib(room):>15}"


def _consequence(one: Effect) -> str:
    if one.refused:
        return "   the engine refuses it"
    return "   does not start" if one.budget.starves else ""


def _gib(value: Range | None) -> str:
    return "unknown" if value is None else f"{value.expected / GIB:.2f} GiB"


def _memory(a: Side, b: Side) -> Iterator[str]:
    yield ""
    yield f"{'Memory per GPU (* measured)':<{_COLUMN + 2}}{'A':>14}{'B':>14}{'B - A':>14}"
    for name, left, right in _ledger(a, b):
        if left is None and right is None:
            continue
        change = "" if left is None or right is None else f"{(right[0].expected - left[0].expected) / GIB:+.2f} GiB"
        yield f"  {name:<{_COLUMN}}{_cell(left):>14}{_cell(right):>14}{change:>14}".rstrip()


Cell = tuple[Range, bool]


def _cell(cell: Cell | None) -> str:
    return "unknown" if cell is None else f"{_gib(cell[0])}{'*' if cell[1] else ' '}"


def _ledger(a: Side, b: Side) -> Iterator[tuple[str, Cell | None, Cell | None]]:
    for name, field, seen in (
        ("free before loading", "free_before_load", "free_before_load"),
        ("weights", "weights", "weights"),
        ("free after loading", "free_after_load", "free_after_load"),
        ("kept back", "reserved", ""),
        ("rest for the KV cache", "rest", ""),
        ("KV cache", "kv_cache", "kv_cache"),
        ("CUDA graphs", "graphs", "graphs"),
    ):
        cells = []
        for side in (a, b):
            measured = getattr(side.launch.observed, seen) if seen else None
            value = measured or getattr(side.budget, field)
            cells.append(None if value is None else (value, measured is not None))
        yield name, cells[0], cells[1]


def _findings(letter: str, side: Side) -> Iterator[str]:
    for one in side.found:
        if one.severity.word == "error":
            yield ""
            line, _ = one.at.document.lines.position(one.at.span.start)
            text = f"{letter}, line {line}: {one.severity.word} {one.rule.code}: {one.message}"
            yield from wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def as_data(found: Comparison) -> dict[str, Any]:
    """The JSON of `diff`; figures in GiB per GPU, tokens in tokens, unknown is null."""
    return {
        "schema_version": 1,
        "a": _side_data(found.a),
        "b": _side_data(found.b),
        "settings": [
            {
                "name": one.name,
                "a": {"value": _plain(one.a), "by": one.a_by},
                "b": {"value": _plain(one.b), "by": one.b_by},
            }
            for one in found.settings
        ],
        "b_uses_figures_of_a": found.borrowed,
        "other_defaults": found.others,
        "explained_by": [one.what for one in culprits(found.a, found.effects)],
        "environment": [{"name": name, "a": first, "b": second} for name, first, second in found.environment],
        "effects": [
            {"change": one.what, "value": _plain(one.value), "refused": one.refused, **_outlook_data(one.budget)}
            for one in found.effects
        ],
        "memory": [
            {"name": name, "a": _cell_data(left), "b": _cell_data(right)} for name, left, right in _ledger(found.a, found.b)
        ],
        "not_shown": [{"what": one.what, "command": one.command} for one in found.unseen],
    }


def _plain(value: Any) -> Any:
    if value is None or value is UNKNOWN:
        return None
    if isinstance(value, str | int | float | bool):
        return value
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else str(value)


def _side_data(side: Side) -> dict[str, Any]:
    launch = side.launch
    return {
        "path": side.path,
        "line": side.line,
        "kind": "launch" if side.boot is None else "log",
        "engine": launch.engine.name,
        "engine_version": launch.version.given,
        "model": launch.profile_names.get("model"),
        "outcome": side.outcome,
        **_outlook_data(side.budget),
        "findings": [{"code": one.rule.code, "severity": one.severity.word, "message": one.message} for one in side.found],
    }


def _outlook_data(budget: Budget) -> dict[str, Any]:
    return {
        "rest_gib": None if budget.rest is None else round(budget.rest.expected / GIB, 4),
        "kv_tokens": None if budget.tokens is None else round(max(budget.tokens.expected, 0)),
        "starts": None if budget.rest is None else not budget.starves,
    }


def _cell_data(cell: Cell | None) -> dict[str, Any] | None:
    return None if cell is None else {"gib": round(cell[0].expected / GIB, 4), "measured": cell[1]}
