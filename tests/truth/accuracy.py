"""The accuracy table: public boots through `lint` and `explain`, per source. `python -m tests.truth.accuracy` writes it.

A boot's rest is worked back from the tokens that it printed. Nothing observed is given to the estimate that is called cold;
the one that is called observed has the free memory before and after loading, as printed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from preflight.diagnostics import ERROR, WARNING
from preflight.engines.sglang.kv import Pool, pool
from preflight.engines.sglang.memory import state_of
from preflight.engines.steps import Unknown
from preflight.explain.data import verdict
from preflight.lint import FileResult, Resolved, lint_document
from preflight.text import Document
from preflight.units import GIB
from tests.truth.records import ABSENT, ROOT, boots, clean, launch_toml, source, truth_folder

CONSTANTS = ROOT / "preflight" / "engines" / "sglang" / "overheads.json"
TABLE = ROOT / "docs" / "accuracy.md"
MEMORY_CODES = ("MEM", "CAP", "UNT")
ROUNDING_GIB = 0.005


class Cold(NamedTuple):
    """One boot without any observed figure. Errors are ours less theirs; `tokens` relative, the rest as a share of the GPU."""

    record: Mapping[str, Any]
    tokens: float | None
    rest: float | None
    holds: bool | None
    width: float | None
    reason: str


class Outcome(NamedTuple):
    record: Mapping[str, Any]
    verdict: str
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    sure: bool
    """Whether the release's memory code was read: in others a finding is a warning at most."""


def linted(text: str, folder: Path) -> tuple[FileResult, Resolved]:
    result = lint_document(Document(str(folder / "launch.toml"), text))
    (launch,) = result.launches
    return result, launch


def pool_of(resolved: Resolved) -> Pool | None:
    model = resolved.launch.model
    try:
        return None if model is None else pool(state_of(resolved.launch), model)
    except Unknown:
        return None


def rest_of(plan: Pool, tokens: float) -> float:
    """The least rest in bytes that gives so many tokens."""
    low, high = 0.0, float(1 << 45)
    while high - low > 1e4:
        middle = (low + high) / 2
        low, high = (low, middle) if plan.size(middle).tokens >= tokens else (middle, high)
    return high


def cold(record: Mapping[str, Any], folder: Path) -> Cold:
    _, resolved = linted(launch_toml(record, folder), folder)
    budget, plan = resolved.budget, pool_of(resolved)
    if budget.tokens is None or budget.rest is None or plan is None or budget.total is None:
        return Cold(record, None, None, None, None, "; ".join(budget.missing) or "not known")
    seen, memory = record["observed"]["kv_tokens"], budget.total.expected
    rest = rest_of(plan, seen)
    return Cold(
        record,
        budget.tokens.expected / seen - 1,
        (budget.rest.expected - rest) / memory,
        budget.rest.low <= rest <= budget.rest.high,
        (budget.rest.high - budget.rest.low) / memory,
        "",
    )


def observed(record: Mapping[str, Any], folder: Path) -> tuple[float, float] | None:
    """Relative error of the tokens with the free memory given, and what that memory's rounding alone may make."""
    _, resolved = linted(launch_toml(record, folder, observed=True), folder)
    budget, tokens = resolved.budget, record["observed"].get("kv_tokens")
    if budget.tokens is None or budget.rest is None or budget.knob.value is None or not tokens:
        return None
    rounding = ROUNDING_GIB * GIB * (2 - budget.knob.value) / max(budget.rest.expected, 1.0)
    return budget.tokens.expected / tokens - 1, rounding


def weights(record: Mapping[str, Any], folder: Path) -> float | None:
    """Relative error of what loading takes."""
    _, resolved = linted(launch_toml(record, folder), folder)
    found = resolved.budget.weights
    return None if found is None else found.expected / GIB / record["observed"]["weights_gib"] - 1


def outcome(record: Mapping[str, Any], text: str, folder: Path) -> Outcome:
    result, resolved = linted(text, folder)
    errors = tuple(found.rule.code for found in result.diagnostics if found.severity == ERROR)
    warnings = tuple(found.rule.code for found in result.diagnostics if found.severity == WARNING)
    return Outcome(record, verdict(resolved), errors, warnings, resolved.launch.version.cap >= ERROR)


def verdicts(folder: Path) -> tuple[list[Outcome], list[Outcome]]:
    """Boots that started, and boots that failed for memory; free memory is given where the record says it is needed."""
    started: list[Outcome] = []
    failed: list[Outcome] = []
    for record in boots("sglang"):
        if "verdict" not in record["score"]:
            continue
        found = outcome(record, launch_toml(record, folder, observed=bool(record.get("needs_free_before"))), folder)
        (started if record["outcome_class"] == "started" else failed).append(found)
    return started, failed


def synthetic(folder: Path) -> list[Outcome]:
    """Started boots with the fraction moved to where it cannot do: by measurement where there is one, else by the weights."""
    found = []
    for record in boots("sglang"):
        if record["outcome_class"] != "started":
            continue
        seen = record["observed"]
        measured = bool(seen.get("free_before_gib") and seen.get("free_after_gib"))
        _, resolved = linted(launch_toml(record, folder, observed=measured), folder)
        budget = resolved.budget
        if budget.free_before_load is None or budget.weights is None:
            continue
        bound = (
            budget.weights.floor + (budget.draft_weights.floor if budget.draft_weights else 0)
        ) / budget.free_before_load.ceil
        fraction = round(bound - 0.02, 3)
        if fraction > 0:
            found.append(outcome(record, launch_toml(record, folder, observed=measured, fraction=fraction), folder))
    return found


def caught(found: Outcome) -> bool:
    return any(code.startswith(MEMORY_CODES) for code in (*found.errors, *found.warnings))


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which `share` of the values lie, the nearest one."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * (len(ordered) - 1))))]


def all_cold(folder: Path) -> list[Cold]:
    return [cold(record, folder) for record in boots("sglang") if "kv_cold" in record["score"]]


def all_observed(folder: Path) -> list[tuple[Mapping[str, Any], float, float]]:
    """With each record its error and the error that its own rounding may make."""
    found: list[tuple[Mapping[str, Any], float, float]] = []
    for record in boots("sglang"):
        if "kv_observed" in record["score"] and record["observed"].get("kv_tokens"):
            pair = observed(record, folder)
            if pair is not None:
                found.append((record, *pair))
    return found


def sglang(folder: Path) -> list[str]:
    """The section of the table on SGLang."""
    boots_cold = all_cold(folder)
    answered = [found for found in boots_cold if found.tokens is not None]
    lines = ["## SGLang", "", *_cold_table(boots_cold), "", *_cold_list(boots_cold), ""]
    unanswered = [found for found in boots_cold if found.tokens is None]
    lines.append(f"Answered: {len(answered)} of {len(boots_cold)}.")
    lines += [f"Not answered: {found.record['id']} ({found.record['model']}): {found.reason}." for found in unanswered]
    lines += ["", "### Each source met with constants that were fitted to the others", "", *_left_out_table()]
    lines += ["", "### With the free memory before and after loading", "", *_observed_table(folder)]
    lines += ["", "### What loading takes", "", *_weights_lines(folder)]
    lines += ["", "### Verdicts", "", *_verdict_table(folder)]
    return lines


def _cold_table(found: Sequence[Cold]) -> list[str]:
    lines = [
        "### Without any observed figure",
        "",
        "Errors of the rest and widths of the band are shares of the GPU's memory.",
        "",
        "| source | boots | median error of tokens | largest | median error of the rest | in band | median width | widest |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    groups: dict[str, list[Cold]] = {}
    for one in found:
        if one.tokens is not None:
            groups.setdefault(source(one.record), []).append(one)
    lines += [_cold_row(name, groups[name]) for name in sorted(groups)]
    lines.append(_cold_row("**all**", [one for one in found if one.tokens is not None]))
    return lines


def _cold_row(name: str, group: Sequence[Cold]) -> str:
    tokens = [abs(one.tokens or 0.0) for one in group]
    rest = [abs(one.rest or 0.0) for one in group]
    width = [one.width or 0.0 for one in group]
    held = sum(bool(one.holds) for one in group)
    return (
        f"| {name} | {len(group)} | {quantile(tokens, 0.5):.2%} | {max(tokens):.2%} | {quantile(rest, 0.5):.2%} "
        f"| {held} of {len(group)} | {quantile(width, 0.5):.2%} | {max(width):.2%} |"
    )


def _cold_list(found: Sequence[Cold]) -> list[str]:
    lines = [
        "| boot | release | GPUs | model | tokens | rest, share of GPU memory | in band |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        record = one.record
        what = f"| {record['id']} | {record['version']} | {record['gpu_count']} × {record['gpu']} | {record['model']} |"
        figures = (
            " – | – | – |" if one.tokens is None else f" {one.tokens:+.2%} | {one.rest:+.2%} | {'yes' if one.holds else 'no'} |"
        )
        lines.append(what + figures)
    return lines


def _left_out_table() -> list[str]:
    lines = ["| source left out | boots | median error of the rest, share of GPU memory | in band |", "| --- | --- | --- | --- |"]
    report = json.loads(CONSTANTS.read_text(encoding="utf-8"))["left_out_by_source"]
    for name, row in report.items():
        boots_in, held = row["boots"], row["in_band"]
        lines.append(f"| {name} | {boots_in} | {row['median_rest_error']:.2%} | {held} of {boots_in} |")
    held, every = (sum(row[key] for row in report.values()) for key in ("in_band", "boots"))
    return [*lines, f"| **all** | {every} | | {held} of {every} |"]


def _observed_table(folder: Path) -> list[str]:
    found = all_observed(folder)
    fine = [abs(error) for _, error, rounding in found if rounding <= 0.005]
    middle, most = quantile(fine, 0.5), max(fine)
    lines = [
        f"Median error of the tokens {middle:.2%}, largest {most:.2%}, on the {len(fine)} boots whose own rounding is at most "
        "0.5 %.",
        "",
    ]
    lines += ["| boot | release | model | tokens | by rounding up to |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {record['id']} | {record['version']} | {record['model']} | {error:+.2%} | {rounding:.2%} |"
        for record, error, rounding in found
    ]
    return lines


def _weights_lines(folder: Path) -> list[str]:
    records = [record for record in boots("sglang") if "weights" in record["score"]]
    pairs = [(record, weights(record, folder)) for record in records]
    errors = [(record, error) for record, error in pairs if error is not None]
    sizes = [abs(error) for _, error in errors]
    lines = [
        f"{len(errors)} of {len(records)} boots answered: median error {quantile(sizes, 0.5):.2%}, "
        f"90th percentile {quantile(sizes, 0.9):.2%}. Further off than 4 %:",
        "",
    ]
    lines += [f"- {record['id']} ({record['model']}): {error:+.1%}" for record, error in errors if abs(error) > 0.04]
    return lines


def _verdict_table(folder: Path) -> list[str]:
    started, failed = verdicts(folder)
    made = synthetic(folder)
    fine = [outcome(record, launch_toml(record, folder), folder) for record in clean("sglang")]
    lines = [
        "| what happened | boots | fails | uncertain | fits | unknown | a MEM, CAP or UNT finding |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    named = (
        ("started", started),
        ("known to start (clean)", fine),
        ("failed for memory", failed),
        ("made to fail by the fraction", [found for found in made if found.sure]),
        ("the same, releases that were not read", [found for found in made if not found.sure]),
    )
    for name, group in named:
        counts = [sum(found.verdict == word for found in group) for word in ("fails", "uncertain", "fits", "unknown")]
        lines.append(f"| {name} | {len(group)} | {' | '.join(map(str, counts))} | {sum(map(caught, group))} |")
    return lines


_HEAD = """\
# How accurate the estimates are

Generated by `python -m tests.truth.accuracy` from public boots; a test fails when the figures leave their budgets. Records
are shared data and not part of the repository (`PREFLIGHT_TRUTH`).

What this proves, and what not: the cold boots are few, most are one day of one release (0.5.15) on data-centre cards, and the
pools of CI boots are known to 1 to 1.5 % only. Errors are therefore given per source. The constants behind the estimates were
fitted to the same boots; `preflight/engines/sglang/overheads.json` says how well each source is met when it is left out.
"""

SECTIONS: tuple[Callable[[Path], list[str]], ...] = (sglang,)


def table() -> str:
    with tempfile.TemporaryDirectory() as folder:
        parts = [_HEAD, *("\n".join(section(Path(folder))) + "\n" for section in SECTIONS)]
    return "\n".join(parts)


def main() -> int:
    if truth_folder() is None:
        sys.stderr.write(f"{ABSENT}\n")
        return 2
    text = table()
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"written: {TABLE.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
