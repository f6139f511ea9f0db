"""A figure that is not known exactly: what is proved, what is likely, what is expected."""

from __future__ import annotations

from math import inf

from preflight.records import NamedTuple

INFINITE = inf
"""The ceil of a figure that nothing proves to be bounded; the floor of its negative."""


class Range(NamedTuple):
    """`floor ≤ low ≤ expected ≤ high ≤ ceil`, in bytes unless said otherwise.

    floor and ceil are proved by arithmetic or a measurement, and infinite where nothing proves them; low to high is the honest
    90 % band; errors are decided on floor and ceil only, warnings on expected.
    """

    floor: float
    low: float
    expected: float
    high: float
    ceil: float

    def plus(self, other: Range) -> Range:
        return Range(
            self.floor + other.floor,
            *_band(self, other, self.expected + other.expected),
            self.ceil + other.ceil,
        ).ordered()

    def minus(self, other: Range) -> Range:
        return self.plus(other.times(-1))

    def times(self, factor: float) -> Range:
        values = [value * factor for value in self]
        return Range(*(values if factor >= 0 else values[::-1]))

    def shifted(self, amount: float) -> Range:
        return Range(*(value + amount for value in self))

    def at_least(self, least: float) -> Range:
        return Range(*(max(value, least) for value in self))

    def ordered(self) -> Range:
        """With low and high brought inside floor and ceil."""
        low = min(max(self.low, self.floor), self.ceil)
        high = max(min(self.high, self.ceil), low)
        return Range(self.floor, low, min(max(self.expected, low), high), high, self.ceil)


def _band(one: Range, other: Range, expected: float) -> tuple[float, float, float]:
    """Two independent errors add like the sides of a right angle, not end to end."""
    down = ((one.expected - one.low) ** 2 + (other.expected - other.low) ** 2) ** 0.5
    up = ((one.high - one.expected) ** 2 + (other.high - other.expected) ** 2) ** 0.5
    return expected - down, expected, expected + up


def exactly(value: float) -> Range:
    return Range(value, value, value, value, value)


def within(floor: float, expected: float, ceil: float) -> Range:
    """A figure whose bounds are proved: a measurement with its rounding."""
    return Range(floor, floor, expected, ceil, ceil)


def total(ranges: list[Range]) -> Range:
    result = exactly(0)
    for item in ranges:
        result = result.plus(item)
    return result
