"""Public boots of SGLang against the estimates: the budgets of the design, with the samples that there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.truth.accuracy import (
    MEMORY_CODES,
    Cold,
    Outcome,
    all_cold,
    all_observed,
    caught,
    outcome,
    quantile,
    synthetic,
    verdicts,
    weights,
)
from tests.truth.fit import DATA
from tests.truth.records import ABSENT, boots, clean, launch_toml, truth_folder

pytestmark = pytest.mark.skipif(truth_folder() is None, reason=ABSENT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("truth")


@pytest.fixture(scope="module")
def cold_boots(folder: Path) -> list[Cold]:
    return all_cold(folder)


@pytest.fixture(scope="module")
def judged(folder: Path) -> tuple[list[Outcome], list[Outcome]]:
    return verdicts(folder)


def answered(found: list[Cold]) -> Iterator[tuple[float, bool, float]]:
    for one in found:
        if one.tokens is not None and one.holds is not None and one.width is not None:
            yield abs(one.tokens), one.holds, one.width


def test_tokens_without_observed_figures(cold_boots: list[Cold]) -> None:
    assert quantile([error for error, _, _ in answered(cold_boots)], 0.5) <= 0.03


def test_nearly_all_boots_are_answered(cold_boots: list[Cold]) -> None:
    assert len(list(answered(cold_boots))) >= 0.9 * len(cold_boots), [
        found.reason for found in cold_boots if found.tokens is None
    ]


def test_the_band_holds_what_it_promises_and_is_narrow(cold_boots: list[Cold]) -> None:
    found = list(answered(cold_boots))
    assert 0.85 <= sum(holds for _, holds, _ in found) / len(found) <= 0.97
    assert quantile([width for _, _, width in found], 0.5) <= 0.06
    assert quantile([width for _, _, width in found], 0.9) <= 0.15


def test_tokens_with_the_free_memory_before_and_after_loading(folder: Path) -> None:
    errors = [abs(error) for _, error, rounding in all_observed(folder) if rounding <= 0.005]
    assert len(errors) >= 5
    assert quantile(errors, 0.5) <= 0.005


def test_what_loading_takes(folder: Path) -> None:
    records = [record for record in boots("sglang") if "weights" in record["score"]]
    errors = [abs(error) for record in records if (error := weights(record, folder)) is not None]
    assert len(errors) >= 0.9 * len(records)
    assert quantile(errors, 0.5) <= 0.01


def excused(found: Outcome) -> bool:
    """A flag that the nearest known release does not have, where the boot's own release is not known exactly."""
    return not found.record["version_exact"] and all(code.startswith("FLG") for code in found.errors)


def test_no_boot_that_started_is_called_an_error(judged: tuple[list[Outcome], list[Outcome]], folder: Path) -> None:
    started, _ = judged
    known = [outcome(record, launch_toml(record, folder), folder) for record in clean("sglang")]
    wrong = [(found.record["id"], found.errors) for found in (*started, *known) if found.errors and not excused(found)]
    assert wrong == []


def test_few_boots_that_started_get_a_memory_warning(judged: tuple[list[Outcome], list[Outcome]], folder: Path) -> None:
    started, _ = judged
    known = [outcome(record, launch_toml(record, folder), folder) for record in clean("sglang")]
    for group in (started, known):
        warned = [found for found in group if any(code.startswith("MEM") for code in found.warnings)]
        assert len(warned) <= 0.15 * len(group)


def test_failures_are_caught(judged: tuple[list[Outcome], list[Outcome]], folder: Path) -> None:
    _, failed = judged
    everything = [*failed, *synthetic(folder)]
    assert sum(map(caught, everything)) >= 0.95 * len(everything)


def test_a_fraction_below_the_proved_bound_is_an_error(folder: Path) -> None:
    found = [one for one in synthetic(folder) if one.sure]
    assert len(found) >= 10
    proved = [one for one in found if any(code.startswith(MEMORY_CODES) for code in one.errors)]
    assert len(proved) >= 0.95 * len(found)


def test_at_most_eight_constants_are_fitted() -> None:
    import json

    data = json.loads(DATA.read_text(encoding="utf-8"))
    assert len(data["fitted"]) <= 8
    assert data["evidence"]
    assert data["method"]
    assert data["left_out_by_source"]
