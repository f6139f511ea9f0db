"""Fits the constants of preflight/engines/sglang/overheads.json to public boots: `python -m tests.truth.fit`.

One pooled model with eight constants for all cards, models and releases. Three kinds of equations are solved together for the
least sum of absolute errors, each constant in turn by a weighted median:

- what loading took, less the weights by arithmetic (boots that printed it);
- what of the card was gone before loading (boots that printed it, on a card of their own);
- the rest that a pool's tokens imply (boots without any other figure).

The two spreads make the band: the first is half as much again as the nine-in-ten error before loading, the second is widened
until nineteen of twenty rests of the third kind lie inside. Every source is then left out once, and met with constants fitted
to the others.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from preflight.engines.sglang.overheads import SMALL_WEIGHTS
from preflight.units import GIB
from tests.truth.accuracy import CONSTANTS, linted, pool_of, quantile, rest_of
from tests.truth.records import ABSENT, boots, launch_toml, truth_folder

DATA = CONSTANTS
NAMES = (
    "context_gib",
    "driver_share",
    "communicators_gib",
    "communicators_pcie_gib",
    "load_leftover_gib",
    "load_leftover_share",
)
LEAST = dict.fromkeys(NAMES, 0.0)
ROUNDS = 400
UNSEEN = 1.5
"""The errors of a source that the constants have not seen are this much larger than those of one that they have."""
LARGEST_GIB = 2.5
"""An equation further off than this is of another kind (a checkpoint that is not what its name says) and is not fitted to."""


class Equation(NamedTuple):
    """`sum(factor · constant) = value`, in GiB; `half` gives the band's half-width from the two spreads' factors."""

    kind: str
    boot: str
    source: str
    factors: Mapping[str, float]
    value: float
    before: float = 0.0
    load: float = 0.0
    memory: float = 1.0

    def error(self, constants: Mapping[str, float]) -> float:
        return sum(factor * constants[name] for name, factor in self.factors.items()) - self.value


def equations(folder: Path) -> list[Equation]:
    found = []
    for record in boots("sglang"):
        if record["interconnect"] == "unified" or record["gpu"].startswith("Ascend"):
            continue
        found += _of_boot(record, folder)
    return found


def _of_boot(record: Mapping[str, Any], folder: Path) -> list[Equation]:
    _, resolved = linted(launch_toml(record, folder), folder)
    budget, seen, boot = resolved.budget, record["observed"], record["id"]
    origin = f"CI {record['gpu']}" if "derived_mean" in record.get("observed_extra", {}) else boot
    rows = [row for row in budget.rows if row.phase == "load" and row.name not in ("load leftovers", "draft weights")]
    weights = sum(row.bytes.expected for row in rows) / GIB
    leftover = {"load_leftover_gib": min(1.0, weights * GIB / SMALL_WEIGHTS), "load_leftover_share": weights}
    found = []
    if "weights" in record["score"] and seen.get("weights_gib") and weights:
        found.append(Equation("load", boot, origin, leftover, seen["weights_gib"] - weights, 0.0, weights))
    memory = (record["gpu_mib"] or 0) / 1024
    taken = {"context_gib": 1.0, "driver_share": memory}
    if record["gpu_count"] > 1:
        taken["communicators_pcie_gib" if record["interconnect"] == "pcie" else "communicators_gib"] = 1.0
    alone = not record["gpu_shared"] and record.get("platform") != "wsl2"
    if memory and seen.get("free_before_gib") and alone:
        found.append(Equation("before", boot, origin, taken, memory - seen["free_before_gib"], 1.0, 0.0, memory))
    plan = pool_of(resolved)
    if "kv_cold" in record["score"] and plan is not None and weights and budget.knob.value is not None:
        fraction = budget.knob.value
        draft = budget.draft_weights.expected / GIB if budget.draft_weights else 0.0
        implied = fraction * memory - weights - draft - rest_of(plan, seen["kv_tokens"]) / GIB
        factors = {**leftover, **{name: fraction * factor for name, factor in taken.items()}}
        found.append(Equation("rest", boot, origin, factors, implied, fraction, weights, memory))
    return found


def fit(found: Sequence[Equation]) -> dict[str, float]:
    """The constants of least absolute error, none below zero."""
    constants = {"context_gib": 0.7, "driver_share": 0.005, "communicators_gib": 1.0, "communicators_pcie_gib": 0.3}
    constants |= {"load_leftover_gib": 0.1, "load_leftover_share": 0.002}
    used = [one for one in found if abs(one.error(constants)) < LARGEST_GIB]
    for _ in range(ROUNDS):
        for name in NAMES:
            pairs = []
            for one in used:
                factor = one.factors.get(name, 0.0)
                if factor:
                    pairs.append((constants[name] - one.error(constants) / factor, abs(factor)))
            if pairs:
                constants[name] = max(LEAST[name], _weighted_median(pairs))
    errors = [abs(one.error(constants)) for one in used if one.kind != "load"]
    constants["before_spread_gib"] = UNSEEN * quantile(errors, 0.9)
    rests = [one for one in found if one.kind == "rest"]
    share = 0.005
    while sum(within(one, constants | {"load_spread_share": share}) for one in rests) < 0.95 * len(rests) and share < 0.03:
        share += 0.0005
    constants["load_spread_share"] = share
    return {name: round(value, 4) for name, value in constants.items()}


def _weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    ordered = sorted(pairs)
    half, total = sum(weight for _, weight in ordered) / 2, 0.0
    for value, weight in ordered:
        total += weight
        if total >= half:
            return value
    return ordered[-1][0]


def half_width(one: Equation, constants: Mapping[str, float]) -> float:
    before = one.before * constants["before_spread_gib"]
    load = one.load * constants["load_spread_share"]
    return float((before**2 + load**2) ** 0.5)


def within(one: Equation, constants: Mapping[str, float]) -> bool:
    return abs(one.error(constants)) <= half_width(one, constants)


def left_out(found: Sequence[Equation]) -> dict[str, dict[str, float]]:
    """Each source with rests, met with the constants of all others: errors as shares of the GPU's memory."""
    report = {}
    for name in sorted({one.source for one in found if one.kind == "rest"}):
        constants = fit([one for one in found if one.source != name])
        rests = [one for one in found if one.source == name and one.kind == "rest"]
        report[name] = {
            "boots": len(rests),
            "median_rest_error": round(quantile([abs(one.error(constants)) / one.memory for one in rests], 0.5), 4),
            "in_band": sum(within(one, constants) for one in rests),
        }
    return report


def main() -> int:
    if truth_folder() is None:
        sys.stderr.write(f"{ABSENT}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        found = equations(Path(folder))
    constants = fit(found)
    data = json.loads(DATA.read_text(encoding="utf-8"))
    counts = {kind: sum(one.kind == kind for one in found) for kind in ("load", "before", "rest")}
    data["evidence"] = (
        f"public boots on discrete cards: {counts['load']} printed what loading took, {counts['before']} what was free before "
        f"it, {counts['rest']} only the tokens of their pool; unified memory is left out"
    )
    data["method"] = "least absolute errors, pooled over all cards, models and releases; tests/truth/fit.py"
    data["fitted"] = constants
    data["left_out_by_source"] = left_out(found)
    DATA.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    for one in found:
        sys.stdout.write(
            f"{one.kind:7} {one.boot} {one.source:20} {one.error(constants):+.2f} of ±{half_width(one, constants):.2f}\n"
        )
    sys.stdout.write(json.dumps({"fitted": constants, "left_out_by_source": data["left_out_by_source"]}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
