"""Versions, ranges, and what is sure between two releases that were read."""

from __future__ import annotations

import pytest

from preflight.engines.versions import APPLIES, IN_A_GAP, NOT, applies, parse_bounds, parse_spec, parse_version


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


def test_a_read_post_release_speaks_for_its_release() -> None:
    read = ((0, 5, 12, 1), (0, 5, 15, 1), (0, 5, 18))
    assert applies("0.5.15..", (0, 5, 15), read) == APPLIES
    assert applies("..0.5.12", (0, 5, 15), read) == NOT
    assert applies("..0.5.12", (0, 5, 12), read) == APPLIES
    assert applies("0.5.15..", (0, 5, 15, -1), read) == IN_A_GAP


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
