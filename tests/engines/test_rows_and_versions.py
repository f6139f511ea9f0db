"""Ordered steps: what is unknown silences a row, and what a row would have set becomes unknown."""

from __future__ import annotations

import pytest

from preflight.engines.steps import FILE, REFUSES, SETS, UNKNOWN, WARNS, Row, Setting, State, Unknown, run_steps
from preflight.engines.versions import APPLIES, IN_A_GAP, NOT, applies, parse_bounds, parse_spec, parse_version


def state(complete: bool = True, **settings: object) -> State:
    return State(
        {name.replace("_", "-"): Setting(value, FILE) for name, value in settings.items()},
        version=(0, 5, 9),
        hardware=None,
        model=None,
        complete=complete,
    )


def run(s: State, *rows: Row) -> list[str]:
    return [event.row.id for event in run_steps(s, [(row, None) for row in rows], ())]


def test_rows_see_what_earlier_rows_have_set() -> None:
    s = state(page_size=1)
    double = Row("A", SETS, when=lambda s: s.page_size == 1, sets="page-size", value=lambda s: s.page_size * 64)
    refuse = Row("B", REFUSES, when=lambda s: s.page_size > 1, says="no")
    assert run(s, double, refuse) == ["A", "B"]
    assert run(state(page_size=1), refuse, double) == ["A"]


def test_reading_an_unknown_setting_silences_a_row() -> None:
    s = state(page_size=UNKNOWN)
    assert run(s, Row("A", REFUSES, when=lambda s: s.page_size > 1, says="no")) == []


def test_what_an_unknown_condition_would_set_becomes_unknown() -> None:
    s = state(page_size=1)
    assert run(s, Row("A", SETS, when=lambda s: s.gpu.compute_capability, sets="page-size", value=64)) == []
    with pytest.raises(Unknown, match="page-size"):
        s.get("page-size")


def test_behind_an_opaque_tail_an_absent_flag_is_unknown() -> None:
    row = Row("A", WARNS, when=lambda s: s.page_size is None, says="absent")
    assert run(state(), row) == ["A"]
    assert run(state(complete=False), row) == []


def test_a_row_that_changes_nothing_leaves_no_trace() -> None:
    assert run(state(page_size=64), Row("A", SETS, when=lambda s: True, sets="page-size", value=64)) == []


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.5.9", (0, 5, 9)),
        ("v0.5.12.post1", (0, 5, 12, 1)),
        ("0.5.2rc0", (0, 5, 2, -1)),
        ("0.6", (0, 6, 0)),
        ("latest", None),
        ("", None),
    ],
)
def test_versions(text: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(text) == version


def test_an_upper_bound_includes_its_post_releases() -> None:
    assert parse_bounds("..0.5.12").holds((0, 5, 12, 1))
    assert not parse_bounds("..0.5.12").holds((0, 5, 13))
    assert not parse_bounds("0.5.12..").holds((0, 5, 11))


def test_between_two_read_releases_a_fact_is_sure_only_if_both_have_it() -> None:
    read = ((0, 5, 18), (0, 5, 20), (0, 5, 23))
    assert applies("..0.5.18", (0, 5, 19), read) == IN_A_GAP
    assert applies("..0.5.20", (0, 5, 19), read) == APPLIES
    assert applies("0.5.23..", (0, 5, 19), read) == NOT
    assert applies("0.5.23..", (0, 5, 30), read) == APPLIES


@pytest.mark.parametrize(
    ("spec", "inside", "outside"),
    [
        (">=0.5.9", "0.5.10", "0.5.8"),
        (">=0.5.9,<0.5.20", "0.5.18", "0.5.20"),
        ("0.5.*", "0.5.2", "0.4.10"),
        ("~=0.5.9", "0.5.12", "0.6.0"),
    ],
)
def test_what_a_project_allows(spec: str, inside: str, outside: str) -> None:
    parsed = parse_spec(spec)
    assert parsed is not None
    assert parsed.holds(parse_version(inside) or ())
    assert not parsed.holds(parse_version(outside) or ())
