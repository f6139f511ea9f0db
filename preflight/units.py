"""Quantities with units: bytes inside, GiB and GB both read, never mixed silently."""

from __future__ import annotations

import math
import re

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
UNITS = {
    "b": 1,
    "kib": KIB,
    "mib": MIB,
    "gib": GIB,
    "tib": TIB,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
"""Bytes, by the unit in lower case."""
_QUANTITY = re.compile(
    r"([+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:[nN][aA][nN]|[iI][nN][fF](?:inity|INITY)?))\s*([A-Za-z]*)\Z"
)


NOT_AN_AMOUNT, NO_UNIT, UNKNOWN_UNIT, IMPOSSIBLE = "not-an-amount", "no-unit", "unknown-unit", "impossible"


class BadQuantity(ValueError):
    """Why a text is no quantity; `suggestion` is a spelling that would be one, where there is an obvious one.

    `kind` is one of NOT_AN_AMOUNT, NO_UNIT, UNKNOWN_UNIT, IMPOSSIBLE.
    """

    def __init__(self, why: str, kind: str, suggestion: str | None = None) -> None:
        super().__init__(why)
        self.kind = kind
        self.suggestion = suggestion


def parse_bytes(text: str) -> int:
    """`"94.0 GiB"` as bytes. Raises BadQuantity: no unit, an unknown one, not finite, negative."""
    match = _QUANTITY.match(text.strip())
    if match is None:
        raise BadQuantity(f"{text!r} is not an amount of memory", NOT_AN_AMOUNT)
    number_text, unit = match.groups()
    number = float(number_text.replace("_", ""))
    if not math.isfinite(number):
        raise BadQuantity(f"{text!r} is not a finite amount of memory", IMPOSSIBLE)
    if not unit:
        raise BadQuantity(f"{text!r} has no unit", NO_UNIT, f"{number_text} GiB")
    factor = UNITS.get(unit.lower())
    if factor is None:
        raise BadQuantity(f"{unit!r} is not a unit of memory", UNKNOWN_UNIT, f"{number_text} GiB" if unit[0] in "gG" else None)
    if number < 0:
        raise BadQuantity(f"{text!r} is negative", IMPOSSIBLE)
    amount = number * factor
    if amount >= 1 << 60:
        raise BadQuantity(f"{text!r} is more memory than any machine has", IMPOSSIBLE)
    return round(amount)


def gib(amount: float) -> str:
    """Bytes as a text: 3 significant digits, at most 3 decimals, unit always."""
    value = amount / GIB
    size = abs(value)
    digits = 3 if size < 0.0995 else 2 if size < 9.995 else 1
    text = f"{value:,.{digits}f}"
    return f"{text} GiB" if float(text.replace(",", "")) != 0 or value == 0 else f"{value:.2g} GiB"


def round_up(value: float, digits: int) -> float:
    """A least value, never rounded below itself: 1 - 21.7/94 with 3 digits is 0.77, not 0.769."""
    scale: float = 10.0**digits
    return math.ceil(value * scale - 1e-9) / scale


def round_down(value: float, digits: int) -> float:
    scale: float = 10.0**digits
    return math.floor(value * scale + 1e-9) / scale
