"""Versions and ranges of versions, as engines number their releases."""

from __future__ import annotations

import re
from functools import lru_cache

from preflight.records import NamedTuple

Version = tuple[int, ...]
"""`0.5.12.post1` is (0, 5, 12, 1); a pre-release is lower than its release: `0.5.2rc0` is (0, 5, 2, -1).
What a build adds for its CUDA, `+cu129` or `-cu129`, says nothing of the release."""

_BUILD = r"(?:\+[\w.]+|-cu\d+(?:-[a-z]+)?)?"
_VERSION = re.compile(r"v?(\d{1,6}(?:\.\d{1,6}){1,3})(?:\.post(\d{1,6})|(\.?(?:rc|a|b|dev)\d*))?" + _BUILD + r"\Z")


@lru_cache(maxsize=256)
def parse_version(text: str) -> Version | None:
    """None where `text` is no version number."""
    match = _VERSION.match(text.strip().lower())
    if match is None:
        return None
    numbers = [int(part) for part in match[1].split(".")]
    while len(numbers) < 3:
        numbers.append(0)
    if match[2] is not None:
        numbers.append(int(match[2]))
    elif match[3] is not None:
        numbers.append(-1)
    return tuple(numbers)


class Bounds(NamedTuple):
    """From `low` to `high`, both included, None without end. `..0.5.12` includes 0.5.12.post1."""

    low: Version | None
    high: Version | None

    def holds(self, version: Version) -> bool:
        if self.low is not None and version < self.low:
            return False
        return self.high is None or version[: len(self.high)] <= self.high


@lru_cache(maxsize=1024)
def parse_bounds(text: str) -> Bounds:
    """`0.5.9..`, `..0.5.8`, `0.5.10..0.5.12`, `0.5.9` alone, `..` for all. Raises ValueError for anything else."""
    low_text, dots, high_text = text.partition("..")
    low = parse_version(low_text) if low_text else None
    high = (parse_version(high_text) if high_text else None) if dots else low
    if (low_text and low is None) or (high_text and high is None):
        raise ValueError(f"{text!r} is not a range of versions")
    return Bounds(low, high)


APPLIES, IN_A_GAP, NOT = 2, 1, 0


@lru_cache(maxsize=4096)
def applies(bounds_text: str, version: Version, read: tuple[Version, ...]) -> int:
    """Whether what was read to hold in `bounds_text` holds for `version`.

    `read` are the releases whose source was read, ascending. Between two of them a fact is sure only if both have it;
    where one has it the answer is IN_A_GAP, and a finding is one severity weaker. Beyond both ends the nearest one decides.
    A post-release that was read speaks for its release.
    """
    bounds = parse_bounds(bounds_text)
    if version[3:] >= (0,) or len(version) == 3:
        for release in read:
            if release[:3] == version[:3]:
                return APPLIES if bounds.holds(release) else NOT
    below = [release for release in read if release <= version]
    above = [release for release in read if release >= version]
    if not read:
        return APPLIES if bounds.holds(version) else NOT
    hits = bounds.holds(below[-1] if below else above[0]) + bounds.holds(above[0] if above else below[-1])
    return (NOT, IN_A_GAP, APPLIES)[hits]


class VersionSpec(NamedTuple):
    """What a project allows: `0.5.9`, `==0.5.9`, `>=0.5.9`, `>=0.5.9,<0.6`, `0.5.*`."""

    text: str
    clauses: tuple[tuple[str, Version], ...]

    def holds(self, version: Version) -> bool:
        return all(_COMPARE[operator](version, bound) for operator, bound in self.clauses)

    @property
    def exact(self) -> Version | None:
        return self.clauses[0][1] if len(self.clauses) == 1 and self.clauses[0][0] == "==" else None


_COMPARE = {
    "==": lambda version, bound: version == bound,
    "!=": lambda version, bound: version != bound,
    ">=": lambda version, bound: version >= bound,
    "<=": lambda version, bound: version[: len(bound)] <= bound,
    ">": lambda version, bound: version[: len(bound)] > bound,
    "<": lambda version, bound: version < bound,
    "~=": lambda version, bound: version >= bound and version[: len(bound) - 1] == bound[:-1],
    "prefix": lambda version, bound: version[: len(bound)] == bound,
}
_CLAUSE = re.compile(r"\s*(==|!=|>=|<=|>|<|~=)?\s*(\S+)\s*\Z")


def parse_spec(text: str) -> VersionSpec | None:
    """None where `text` is no version and no range of versions."""
    clauses: list[tuple[str, Version]] = []
    for part in text.split(","):
        match = _CLAUSE.match(part)
        if match is None:
            return None
        operator, number = match[1] or "==", match[2]
        if number.endswith(".*") and operator == "==":
            digits = number[:-2].split(".")
            if not all(digit.isdecimal() for digit in digits):
                return None
            clauses.append(("prefix", tuple(map(int, digits))))
            continue
        version = parse_version(number)
        if version is None:
            return None
        clauses.append((operator, version))
    return VersionSpec(text.strip(), tuple(clauses))
