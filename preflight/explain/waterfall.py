"""`explain` as text: where the memory goes, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from preflight.engines.base import Launch
from preflight.engines.steps import UNKNOWN, show
from preflight.explain.data import verdict
from preflight.explain.measured import Measured, measured_rows
from preflight.explain.steps import steps
from preflight.lint import FileResult, Resolved
from preflight.memory.budget import BEFORE_LOAD, KV_SIZING, LATE, LOAD, Budget, LedgerRow
from preflight.memory.range import Range
from preflight.units import GIB, gib

WIDTH = 80
_BAR = 22
_SHOWN = (
    "tp-size",
    "pp-size",
    "dp-size",
    "tensor-parallel-size",
    "pipeline-parallel-size",
    "data-parallel-size",
    "ep-size",
    "mem-fraction-static",
    "gpu-memory-utilization",
    "chunked-prefill-size",
    "cuda-graph-max-bs",
    "attention-backend",
    "page-size",
    "kv-cache-dtype",
    "max-running-requests",
    "context-length",
    "max-model-len",
    "speculative-algorithm",
)
_VERDICTS = {
    "fails": "This launch fails.",
    "uncertain": "This launch may fail: an estimate is against it, but nothing proves it.",
    "fits": "This launch fits.",
    "unknown": "What is known does not settle whether this launch fits.",
}


def waterfall(result: FileResult) -> str:
    return "\n".join("\n".join(_launch(resolved)) for resolved in result.launches)


def _launch(resolved: Resolved) -> Iterator[str]:
    launch, budget = resolved.launch, resolved.budget
    line, _ = launch.site.document.lines.position(launch.head.span.start)
    yield f"{launch.site.document.path}:{line}: {_title(launch)}"
    yield from _settings(launch)
    yield ""
    yield from _ledger(budget)
    yield from _pool(budget)
    yield from _measured(measured_rows(launch, budget))
    yield from _steps(resolved)
    yield ""
    yield _VERDICTS[verdict(resolved)]
    for diagnostic in resolved.diagnostics:
        if diagnostic.severity.word != "note":
            text = f"{diagnostic.severity.word} {diagnostic.rule.code}: {diagnostic.message}"
            yield from wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    if budget.missing:
        yield from wrap("Not known: " + ", ".join(budget.missing) + ".", WIDTH, subsequent_indent="  ")
    yield ""


def _title(launch: Launch) -> str:
    judged = f"; judged as {launch.version.text}" if launch.version.text else ""
    version = launch.version.given or f"(version not given{judged})"
    parts = [f"{launch.engine.title} {version}"]
    model = launch.profile_names.get("model")
    if model:
        parts.append(model)
    hardware = launch.hardware
    if hardware is not None and hardware.gpu:
        parts.append(f"{hardware.count or '?'} × {hardware.gpu}" + (f", {hardware.nodes} nodes" if hardware.nodes > 1 else ""))
    return ", ".join(parts)


def _settings(launch: Launch) -> Iterator[str]:
    for name in _SHOWN:
        setting = launch.settings.get(name)
        if setting is None or setting.value is None or setting.value is UNKNOWN:
            continue
        if setting.origin == "engine-default" and setting.by is None:
            continue
        by = f"{setting.origin}, {setting.by}" if setting.by else setting.origin
        value = f"{setting.value:.6g}" if isinstance(setting.value, float) else show(setting.value)
        yield f"  {name:<24}{value:<16}{by}"


def _ledger(budget: Budget) -> Iterator[str]:
    scale = budget.total or budget.free_before_load
    if scale is None:
        return
    full = scale.expected
    yield f"  {'GiB per GPU':<40}{'expected':>10}  {'low to high':<18}"
    yield from _line("GPU memory", budget.total, full)
    yield from _rows(budget, BEFORE_LOAD, full)
    yield from _line("free before loading", budget.free_before_load, full)
    yield from _rows(budget, LOAD, full)
    yield from _line("free after loading", budget.free_after_load, full)
    name = budget.knob.setting
    value = "" if budget.knob.value is None else f" (1 - {budget.knob.value:.4g})"
    yield from _line(f"- kept back{value}", budget.reserved, full, title=name)
    yield from _rows(budget, KV_SIZING, full)
    yield from _line("= rest for the KV cache", budget.rest, full)
    yield from _rows(budget, KV_SIZING, full, of_rest=True)
    if budget.late is not None:
        yield ""
        yield f"  {'Allocated later, out of what is kept back':<40}"
        yield from _rows(budget, LATE, full)
        yield from _line("sum", budget.late, full)


def _rows(budget: Budget, phase: str, full: float, *, of_rest: bool = False) -> Iterator[str]:
    chosen = (row for row in budget.rows if row.phase == phase and row.of_rest is of_rest)
    rows = sorted(chosen, key=lambda row: -row.bytes.expected)
    small = [row for row in rows if row.bytes.expected < full / 200]
    large = [row for row in rows if row not in small]
    for row in large:
        yield from _line(f"  - {row.name}", row.bytes, full)
    if len(small) == 1:
        yield from _line(f"  - {small[0].name}", small[0].bytes, full)
    elif small:
        yield from _line(f"  - {len(small)} smaller items", _together(small), full)


def _together(rows: list[LedgerRow]) -> Range:
    result = rows[0].bytes
    for row in rows[1:]:
        result = result.plus(row.bytes)
    return result


def _line(name: str, value: Range | None, full: float, title: str | None = None) -> Iterator[str]:
    if value is None:
        yield f"  {name:<40}{'unknown':>10}"
        return
    band = "" if value.low == value.high else f"{_number(value.low)} to {_number(value.high)}"
    bar = "█" * min(_BAR, max(0, round(value.expected / full * _BAR)))
    yield f"  {name[:39]:<40}{_number(value.expected):>10}  {band:<16}{bar}"[:WIDTH].rstrip()


def _number(amount: float) -> str:
    return f"{amount / GIB:.2f}"


def _steps(resolved: Resolved) -> Iterator[str]:
    found = list(steps(resolved))
    if not found:
        return
    yield ""
    yield f"  {'One step of a knob':<40}{'tokens':>12}{'room for late':>16}"
    for step in found:
        value = f"{step.value:.6g}" if isinstance(step.value, float) else show(step.value)
        tokens = "" if step.tokens is None else f"{step.tokens:+,.0f}"
        room = "" if step.room is None else f"{step.room / GIB:+.2f} GiB"
        yield f"  {f'{step.setting} {value}'[:39]:<40}{tokens:>12}{room:>16}".rstrip()


def _pool(budget: Budget) -> Iterator[str]:
    tokens = budget.tokens
    if tokens is None or budget.bytes_per_token is None:
        return
    yield ""
    band = "" if tokens.low == tokens.high else f" ({tokens.low:,.0f} to {tokens.high:,.0f})"
    yield f"  KV cache: {max(tokens.expected, 0):,.0f} tokens{band} of {budget.bytes_per_token:,.0f} bytes"
    if budget.context_length:
        share = max(tokens.expected, 0) / budget.context_length
        yield f"  which is {share:.2f} of one context of {budget.context_length:,} tokens"
    knob = budget.knob
    if knob.minimum is not None:
        suggested = "" if knob.suggested is None else f", suggested {knob.suggested:g}"
        yield f"  {knob.setting}: least {knob.minimum:g}{suggested}"
    elif budget.rest is not None and budget.free_before_load is not None:
        yield f"  {knob.setting}: no value leaves a KV cache ({gib(budget.rest.expected)})"


def _measured(rows: list[Measured]) -> Iterator[str]:
    """Predicted beside measured; the last column is how far the prediction is off."""
    if not rows:
        return
    yield ""
    yield f"  {'Predicted beside measured':<26}{'predicted':>14}{'given loading':>15}{'measured':>12}{'off by':>9}"
    for row in rows:
        show_figure = _count if row.key == "kv_tokens" else _amount
        given = "" if row.given_load is None else show_figure(row.given_load)
        predicted = "unknown" if row.predicted is None else show_figure(row.predicted)
        off = "" if row.error is None else f"{row.error:+.1%}"
        yield f"  {row.name:<26}{predicted:>14}{given:>15}{show_figure(row.measured):>12}{off:>9}".rstrip()


def _amount(value: Range) -> str:
    return f"{_number(value.expected)} GiB"


def _count(value: Range) -> str:
    return f"{value.expected:,.0f}"
