"""Ordered steps: what rows do to a half-resolved launch, and in which order each release runs them."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.engines.sglang.engine import SGLANG, order
from preflight.engines.steps import (
    ENGINE_DEFAULT,
    FILE,
    REFUSES,
    SETS,
    UNKNOWN,
    Event,
    Row,
    Setting,
    State,
    Step,
    Topic,
    in_order,
    run_steps,
)
from preflight.hardware.types import Hardware

TOPIC = Topic("XXX001", "a-mistake", "sglang", "model")


def state(**given: Any) -> State:
    settings = {name.replace("_", "-"): Setting(value, FILE) for name, value in given.items()}
    return State(settings, version=(0, 5, 9), hardware=None, model=None)


def run(on: State, *rows: Row) -> list[Event]:
    return run_steps(on, [Step(row, TOPIC, True) for row in rows])


def test_a_row_sees_what_earlier_rows_have_set() -> None:
    on = state(tp_size=8)
    sets = Row("A", SETS, when=lambda s: s.page_size is None, sets="page-size", value=lambda s: s.tp_size * 8)
    refuses = Row("B", REFUSES, when=lambda s: s.page_size > 1, says="page-size is {page_size}.")
    events = run(on, sets, refuses)
    assert [(event.row.id, event.name, event.after, event.message) for event in events] == [
        ("A", "page-size", 64, ""),
        ("B", None, None, "page-size is 64."),
    ]
    assert events[1].reads == ("page-size",)


def test_an_unknown_value_silences_a_row_and_spreads_to_what_it_sets() -> None:
    on = state(attention_backend=UNKNOWN, page_size=1)
    sets = Row("A", SETS, when=lambda s: s.attention_backend == "fa4", sets=("page-size", "tp-size"), value=(128, 1))
    assert run(on, sets) == []
    assert on.settings["page-size"].value is UNKNOWN
    assert on.settings["tp-size"].value is UNKNOWN


def test_a_condition_that_does_not_read_the_unknown_is_known() -> None:
    on = state(attention_backend=UNKNOWN, page_size=16)
    sets = Row("A", SETS, when=lambda s: s.page_size is None and s.attention_backend == "fa4", sets="page-size", value=128)
    assert run(on, sets) == []
    assert on.settings["page-size"].value == 16


def test_one_row_that_sets_several_settings_speaks_once_at_what_was_given() -> None:
    on = state(page_size=16)
    sets = Row(
        "A",
        SETS,
        when=lambda s: True,
        sets=("disable-radix-cache", "page-size", "tp-size"),
        value=(True, 64, None),
        says="page-size becomes {page_size}.",
    )
    events = run(on, sets)
    assert [(event.name, event.overrides, event.message) for event in events] == [
        ("disable-radix-cache", False, ""),
        ("page-size", True, "page-size becomes 64."),
    ]


def test_what_is_already_so_is_no_event() -> None:
    on = state(page_size=64)
    assert run(on, Row("A", SETS, when=lambda s: True, sets="page-size", value=64, says="x")) == []
    assert on.settings["page-size"].origin == FILE


def test_a_failing_row_is_reported_and_the_others_run() -> None:
    on = state(tp_size=0)
    bad = Row("A", REFUSES, when=lambda s: [][s.tp_size], says="x")
    silent = Row("C", REFUSES, when=lambda s: 8 % s.tp_size, says="x")  # a size of 0 divides nothing
    good = Row("B", REFUSES, when=lambda s: s.tp_size < 1, says="tp-size is {tp_size}.")
    assert [event.row.id for event in run(on, bad, silent, good)] == ["B"]
    assert [row for row, _ in on.crashes] == ["A"]


def test_rows_run_by_step_then_by_order_and_only_where_their_versions_hold() -> None:
    def row(name: str, **more: Any) -> Row:
        return Row(name, REFUSES, when=lambda s: True, **more)

    rows = [
        ("late", row("1"), TOPIC),
        ("early", row("2", order=60), TOPIC),
        ("early", row("3", order=40), TOPIC),
        ("late", row("4", step="early"), TOPIC),
        ("early", row("5", versions="0.5.12.."), TOPIC),
        ("early", row("6", versions="..0.5.8"), TOPIC),
    ]
    placed = in_order(("early", "late"), rows, (0, 5, 9), SGLANG.read)
    assert [step.row.id for step in placed] == ["3", "4", "2", "1"]


def test_each_release_runs_its_handlers_in_its_own_order() -> None:
    """Read in the wheels: `__post_init__` of 0.5.9 and 0.5.12.post1, the pipeline of 0.5.23."""

    def before(version: tuple[int, ...], first: str, second: str) -> bool:
        names = order(version)
        return names.index(first) < names.index(second)

    assert before((0, 5, 9), "attention", "deterministic")
    assert before((0, 5, 12, 1), "deterministic", "attention")
    assert before((0, 5, 9), "speculative", "disaggregation")
    assert before((0, 5, 23), "disaggregation", "gpu-memory")
    assert before((0, 5, 2), "speculative", "cache")
    assert before((0, 5, 2), "pipeline", "hicache")
    assert before((0, 5, 5, 3), "hicache", "attention")
    assert all(before(version, "gpu-memory", "model") for version in SGLANG.read)


def test_a_condition_that_was_false_of_defaults_is_asked_again_once_what_it_read_is_given() -> None:
    asked = []

    def condition(s: State) -> bool:
        asked.append(s.tp_size)
        return bool(s.tp_size > 4)

    steps = [Step(Row("A", REFUSES, when=condition, says="tp-size is {tp_size}."), TOPIC, True)]
    defaults = {"tp-size": Setting(1, ENGINE_DEFAULT)}

    def run_on(settings: dict[str, Setting], **circumstances: Any) -> list[str]:
        on = State(dict(settings), version=(0, 5, 9), hardware=None, model=None, **circumstances)
        return [event.message for event in run_steps(on, steps, defaults)]

    assert run_on(defaults) == run_on(defaults) == []
    assert asked == [1]
    assert run_on({"tp-size": Setting(8, FILE)}) == ["tp-size is 8."]
    assert run_on(defaults, complete=False) == []
    assert asked == [1, 8, 1]


@pytest.mark.parametrize(
    "condition",
    [
        lambda s: s.gpu.compute_capability == (9, 0),
        lambda s: s.gpu.known("compute_capability") is not None,
        lambda s: s.env("A") is not None,
    ],
)
def test_a_condition_is_asked_again_on_another_machine_and_with_other_variables(condition: Any) -> None:
    steps = [Step(Row("A", REFUSES, when=condition, says="found"), TOPIC, True)]
    found = []
    for hardware, env in ((None, {}), (Hardware(compute_capability=(9, 0)), {"A": "1"})):
        on = State({}, version=(0, 5, 9), hardware=hardware, model=None, env=env)
        found.append(len(run_steps(on, steps)))
    assert found == [0, 1]
