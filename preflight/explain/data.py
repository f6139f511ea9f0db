"""`explain` as data: the JSON contract of a resolved launch and its ledger."""

from __future__ import annotations

from math import isfinite
from typing import Any

from preflight.engines.base import Launch
from preflight.engines.steps import UNKNOWN
from preflight.explain.measured import measured_rows
from preflight.explain.steps import Step, steps
from preflight.lint import FileResult, Resolved
from preflight.memory.budget import Budget
from preflight.memory.range import Range
from preflight.units import GIB


def explain(results: list[FileResult]) -> dict[str, Any]:
    """The whole document; figures in GiB per GPU, tokens in tokens, unknown is null."""
    return {
        "schema_version": 1,
        "launches": [launch_data(resolved) for result in results for resolved in result.launches],
    }


def launch_data(resolved: Resolved) -> dict[str, Any]:
    launch, budget = resolved.launch, resolved.budget
    line, _ = launch.site.document.lines.position(launch.head.span.start)
    return {
        "path": launch.site.document.path,
        "line": line,
        "name": launch.site.name,
        "engine": launch.engine.name,
        "engine_version": launch.version.given,
        "judged_as": launch.version.text or None,
        "hardware": _hardware(launch),
        "model": {"profile": launch.profile_names.get("model"), "draft": launch.profile_names.get("draft")},
        "flags": {name: _setting(launch, name) for name in sorted(launch.settings)},
        "memory": {
            "total": gib_range(budget.total),
            "free_before_load": gib_range(budget.free_before_load),
            "weights": gib_range(budget.weights),
            "draft_weights": gib_range(budget.draft_weights),
            "free_after_load": gib_range(budget.free_after_load),
            "reserved": gib_range(budget.reserved),
            "rest": gib_range(budget.rest),
            "kv_cache": gib_range(budget.kv_cache),
            "graphs": gib_range(budget.graphs),
        },
        "rows": [
            {"name": row.name, "phase": row.phase, "gib": gib_range(row.bytes), "source": row.source} for row in budget.rows
        ],
        "kv": {"bytes_per_token": budget.bytes_per_token, "tokens": _range(budget.tokens, 1)},
        "static_fraction": {
            "flag": budget.knob.flag.lstrip("-"),
            "value": budget.knob.value,
            "minimum": budget.knob.minimum,
            "suggested": budget.knob.suggested,
        },
        "capacity": _capacity(budget),
        "steps": [_step(step) for step in steps(resolved)],
        "measured": [
            {
                "name": row.key,
                "unit": "tokens" if row.key == "kv_tokens" else "GiB",
                "measured": _range(row.measured, 1 if row.key == "kv_tokens" else GIB),
                "predicted": _range(row.predicted, 1 if row.key == "kv_tokens" else GIB),
                "given_load": _range(row.given_load, 1 if row.key == "kv_tokens" else GIB),
            }
            for row in measured_rows(launch, budget)
        ],
        "missing": list(budget.missing),
        "verdict": verdict(resolved),
    }


def verdict(resolved: Resolved) -> str:
    """`fails` iff an error has a stage; `uncertain` iff there is a memory warning; `unknown` iff tokens are; else `fits`."""
    found = resolved.diagnostics
    if any(diagnostic.severity.word == "error" and diagnostic.stage is not None for diagnostic in found):
        return "fails"
    if any(diagnostic.severity.word == "warning" and diagnostic.rule.code.startswith("MEM") for diagnostic in found):
        return "uncertain"
    return "unknown" if resolved.budget.tokens is None else "fits"


def _range(value: Range | None, unit: float) -> dict[str, float | None] | None:
    if value is None:
        return None
    names = ("floor", "low", "expected", "high", "ceil")
    return {name: _rounded(figure / unit) for name, figure in zip(names, value, strict=True)}


def _rounded(figure: float) -> float | None:
    """None for a bound that nothing proves."""
    return round(figure, 6) if isfinite(figure) else None


def _step(step: Step) -> dict[str, Any]:
    return {
        "setting": step.setting,
        "value": step.value,
        "tokens": step.tokens,
        "pools_gib": None if step.pools is None else round(step.pools / GIB, 6),
        "room_gib": None if step.room is None else round(step.room / GIB, 6),
    }


def gib_range(value: Range | None) -> dict[str, float | None] | None:
    return _range(value, GIB)


def _hardware(launch: Launch) -> dict[str, Any]:
    hardware = launch.hardware
    if hardware is None:
        return {"gpu": None, "count": None, "nodes": None, "memory_gib": None, "interconnect": None}
    return {
        "gpu": hardware.gpu,
        "count": hardware.count,
        "nodes": hardware.nodes,
        "memory_gib": None if hardware.memory is None else round(hardware.memory / GIB, 2),
        "interconnect": hardware.interconnect,
    }


def _setting(launch: Launch, name: str) -> dict[str, Any]:
    setting = launch.settings[name]
    value = None if setting.value is UNKNOWN else setting.value
    data: dict[str, Any] = {"value": value, "origin": setting.origin, "flag": launch.flag(name).lstrip("-")}
    if setting.by is not None:
        data["by"] = setting.by
    return data


def _capacity(budget: Budget) -> dict[str, Any]:
    context, tokens = budget.context_length, budget.tokens
    full = None if context is None or tokens is None else round(max(tokens.expected, 0) / context, 4)
    return {"context_length": context, "full_context_requests": full}
