import pytest

from preflight.units import GIB, BadQuantity, gib, parse_bytes, round_down, round_up


def test_gib_and_gb_are_both_read_and_differ() -> None:
    assert parse_bytes("94.0 GiB") == 94 * 2**30
    assert parse_bytes("94.0GB") == 94 * 10**9
    assert parse_bytes("97887 MiB") == 97887 * 2**20
    assert parse_bytes("1_024 B") == 1024


@pytest.mark.parametrize("text", ["94", "94 gallons", "nan GiB", "inf GiB", "-1 GiB", "1e300 GiB", "", "GiB", "9 4 GiB"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(BadQuantity):
        parse_bytes(text)


def test_a_bare_number_is_offered_its_unit() -> None:
    with pytest.raises(BadQuantity) as caught:
        parse_bytes("94.0")
    assert caught.value.suggestion == "94.0 GiB"


def test_bounds_are_rounded_outward() -> None:
    assert round_up(1 - 21.7 / 94, 3) == 0.77
    assert round_up(0.7691784, 4) == 0.7692
    assert round_down(0.8459, 3) == 0.845
    assert round_up(0.77, 3) == 0.77


def test_gib_has_three_digits_and_a_unit() -> None:
    assert gib(-20.603 * GIB) == "-20.6 GiB"
    assert gib(0.2141 * GIB) == "0.21 GiB"
    assert gib(1234.5 * GIB) == "1,234.5 GiB"
