"""What the engine recorded of its own launches is what we say of them: verdicts and resolved settings, per release.

The sets below `recorded/fresh` are not developed against and not read here; `python -m tests.conformance.replay` takes
them by path. The constraint rows of the facts are replayed too where PREFLIGHT_TRUTH says where they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import pytest

import preflight.engines.steps as engine_steps
from preflight.diagnostics import ERROR
from preflight.judge import of_any_gpu
from preflight.registry import registry
from tests.conformance.replay import CRASHES, HERE, Comparison, compare, figures, model_of, recordings, resolver_of, worst

FULL = ("0.5.9", "0.5.12.post1", "0.5.23")
OTHERS = ("0.4.6.post5", "0.4.10", "0.5.2", "0.5.5.post3", "0.5.8", "0.5.10.post1", "0.5.15.post1", "0.5.18", "0.5.20")


@lru_cache(maxsize=16)
def replayed(version: str) -> tuple[Comparison, ...]:
    path = HERE / "recorded" / f"sglang-{version}.jsonl.gz"
    return tuple(compare(record, release) for record, release in recordings([path]))


def wrong(rows: Iterable[Comparison]) -> str:
    return "\n".join(worst(list(rows), 15, "missed,false,settings"))


@pytest.mark.parametrize("version", FULL)
def test_a_full_release_is_refused_and_resolved_as_the_engine_does(version: str) -> None:
    rows = replayed(version)
    got = figures(list(rows))
    assert got.launches >= 500
    assert got.places >= 60
    assert got.recall >= 0.95, wrong(rows)
    assert got.recall_by_place >= 0.95, wrong(rows)
    assert got.false_errors <= 0.01, wrong(rows)
    assert got.settings >= 0.98, wrong(rows)


def test_the_other_releases_are_refused_and_resolved_as_the_engine_does() -> None:
    """Some hundred launches each, so judged together; each by itself is held to a little less."""
    for version in OTHERS:
        got = figures(list(replayed(version)))
        assert got.launches >= 100
        assert got.recall >= 0.9, (version, wrong(replayed(version)))
        assert got.false_errors <= 0.03, (version, wrong(replayed(version)))
        assert got.settings >= 0.98, (version, wrong(replayed(version)))
    rows = [row for version in OTHERS for row in replayed(version)]
    got = figures(rows)
    assert got.recall >= 0.95, wrong(rows)
    assert got.recall_by_place >= 0.95, wrong(rows)
    assert got.false_errors <= 0.01, wrong(rows)


def test_no_row_fails_on_a_recorded_launch() -> None:
    for version in (*FULL, *OTHERS):
        replayed(version)
    assert not CRASHES, CRASHES


def test_without_its_gpu_no_accepted_launch_is_refused() -> None:
    """What is said of a launch on no GPU in particular holds on each, so on the one that it was recorded on, too."""
    found: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
    for version in FULL:
        for record, release in list(recordings([HERE / "recorded" / f"sglang-{version}.jsonl.gz"]))[::4]:
            resolved = resolver_of(record, release)._replace(hardware=None)
            said = of_any_gpu(resolved.at(resolved.versions), resolved, registry(), [])
            refusals = [one.message for one in said if one.severity is ERROR and one.stage == "arguments"]
            found[bool(record["ok"])] += [(release, message) for message in refusals]
    assert found[True] == []
    assert len(found[False]) > 100


def test_a_launch_is_resolved_alike_whatever_was_resolved_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions that were idle in other launches are not asked again: that must not show."""
    for version in FULL:
        for record, release in list(recordings([HERE / "recorded" / f"sglang-{version}.jsonl.gz"]))[::10]:
            resolved = resolver_of(record, release)
            after_others = resolved.at(resolved.versions)
            with monkeypatch.context() as fresh:
                fresh.setattr(engine_steps, "_idle_rows", {})
                alone = resolved.at(resolved.versions)
            assert [(event.row.id, event.message) for event in after_others.trace] == [
                (event.row.id, event.message) for event in alone.trace
            ]
            assert after_others.settings == alone.settings


def test_every_recorded_model_is_in_the_catalogue() -> None:
    models = {row.record["model"] for version in (*FULL, *OTHERS) for row in replayed(version)}
    assert {name for name in models if name and model_of(name) is None} == set()


def test_the_constraint_rows_of_the_facts_hold() -> None:
    folder = Path(os.environ.get("PREFLIGHT_TRUTH", HERE.parents[2] / ".." / "shared" / "truth"))
    path = folder / "constraints-sglang.jsonl"
    if not path.is_file():
        pytest.skip("the constraint rows are not here: set PREFLIGHT_TRUTH")
    rows = [compare(record, version) for record, version in recordings([path])]
    got = figures(rows)
    assert got.recall >= 0.95, wrong(rows)
    assert got.false_errors <= 0.01, wrong(rows)
