"""SGLang's command line, read by the catalogue of its flags."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from preflight.catalog.load import Catalogue, Flag, FlagTable, load
from preflight.engines.base import FlagUse
from preflight.engines.steps import ENGINE_DEFAULT, FILE, INLINE_DEFAULT, UNKNOWN, Setting
from preflight.engines.versions import Version
from preflight.launch import DEFAULT, LaunchSite, Token
from preflight.text import Place, Span


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    return load("sglang")


def releases() -> Sequence[str]:
    return catalogue().releases


@lru_cache(maxsize=16)
def table(release: str) -> FlagTable:
    found = catalogue().at(release)
    assert found is not None
    return found


def spelling(name: str, version: Version) -> str:
    """The flag of a setting in a release, with dashes."""
    flag = table(release_text(version)).flag(name)
    return f"--{name}" if flag is None else preferred(flag)


def preferred(flag: Flag) -> str:
    """The spelling that is the setting's stable name, where this release has it; else its first."""
    stable = f"--{flag.setting}"
    return stable if stable in flag.spellings else flag.spellings[0]


def release_text(version: Version) -> str:
    text = ".".join(map(str, version[:3]))
    return f"{text}.post{version[3]}" if len(version) > 3 and version[3] >= 0 else text


@lru_cache(maxsize=4)
def defaults(release: str) -> dict[str, Setting]:
    """What a release takes where nothing is given; None and False are left out."""
    found = {}
    for flag in table(release).flags():
        value = flag.default if flag.default is not None else flag.fallback
        if value is not None and value is not False and flag.writes == flag.setting:
            found[flag.setting] = Setting(value, ENGINE_DEFAULT, None, preferred(flag))
    return found


def _convert(token: Token, flag: Flag) -> Any:
    text = token.value
    if text is None:
        return UNKNOWN
    try:
        return {"int": int, "float": float}.get(flag.type, str)(text)
    except ValueError:
        return UNKNOWN


def parse(site: LaunchSite, release: str) -> tuple[dict[str, Setting], tuple[FlagUse, ...], tuple[Any, ...]]:
    settings = dict(defaults(release))
    uses, index = [], 0
    while index < len(site.argv):
        token = site.argv[index]
        flag = None if token.value is None or not token.value.startswith("--") else table(release).match(token.value).flag
        if token.value is None or flag is None:
            index += 1
            continue
        last = index
        while last + 1 < len(site.argv) and not (site.argv[last + 1].value or "").startswith("--"):
            last += 1
        value = flag.const if last == index else _convert(site.argv[index + 1], flag)
        place = Place(token.place.document, Span(token.place.span.start, site.argv[last].place.span.end))
        origin = INLINE_DEFAULT if any(word.state == DEFAULT for word in site.argv[index : last + 1]) else FILE
        settings[flag.writes] = Setting(value, origin, place, preferred(flag))
        uses.append(FlagUse(flag.setting, token.value, value, index, last))
        index = last + 1
    return settings, tuple(uses), ()
