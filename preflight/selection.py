"""Which rules are reported: codes, prefixes of codes, and names; the longest match wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from preflight.diagnostics import Rule
from preflight.records import NamedTuple


class UnknownSelector(ValueError):
    """A selector that no rule answers to; the message names its nearest neighbour."""


class Selection(NamedTuple):
    """Selectors in capitals, already turned into codes or prefixes of codes."""

    select: tuple[str, ...] = ("",)
    ignore: tuple[str, ...] = ()

    def holds(self, code: str) -> bool:
        chosen = max((len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1)
        dropped = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        return chosen > dropped

    def without(self, ignored: Iterable[str]) -> Selection:
        return self._replace(ignore=(*self.ignore, *ignored))


EVERYTHING = Selection()
ALL = "ALL"
"""The selector of every rule: as a prefix it is empty, which no command line can say."""


def selection(rules: Mapping[str, Rule], select: Iterable[str], extend: Iterable[str], ignore: Iterable[str]) -> Selection:
    """Raises UnknownSelector. Without `select` all rules are selected, so `extend` adds nothing then."""
    chosen = tuple(selectors(rules, select))
    more = tuple(selectors(rules, extend))
    dropped = tuple(selectors(rules, ignore))
    return Selection(_prefixes((*chosen, *more) if chosen else (ALL, *more)), _prefixes(dropped))


def _prefixes(chosen: Iterable[str]) -> tuple[str, ...]:
    return tuple("" if one == ALL else one for one in chosen)


def selectors(rules: Mapping[str, Rule], words: Iterable[str]) -> list[str]:
    """Codes and prefixes of codes for what a person wrote, separated by commas or spaces."""
    return [selector(rules, part) for word in words for part in word.replace(",", " ").split()]


def selector(rules: Mapping[str, Rule], written: str) -> str:
    if written.upper() in (ALL, "*"):
        return ALL
    for rule in rules.values():
        if written.lower() in (rule.name, *rule.aliases):
            return rule.code
    if any(code.startswith(written.upper()) for code in rules):
        return written.upper()
    raise UnknownSelector(_unknown(rules, written))


def _unknown(rules: Mapping[str, Rule], written: str) -> str:
    from difflib import get_close_matches

    names = [*rules, *(rule.name for rule in rules.values())]
    near = get_close_matches(written.upper(), names, 1) or get_close_matches(written.lower(), names, 1)
    remedy = f"Did you mean {near[0]}?" if near else "`preflight rule` lists them."
    return f"{written!r} is no code, prefix or name of a rule. {remedy}"
