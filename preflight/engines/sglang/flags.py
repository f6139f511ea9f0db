"""SGLang's command line, read by the catalogue of its flags."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
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


_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")
_SUFFIXED = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)")
_UNITS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def _whole(text: str) -> int:
    match = _SUFFIXED.fullmatch(text.strip())
    return int(text) if match is None else int(float(match[1]) * _UNITS[match[2]])


_CONVERTERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "human_readable_int": _whole, "json": json.loads}


def _convert(text: str | None, flag: Flag) -> Any:
    if text is None:
        return UNKNOWN
    try:
        value = _CONVERTERS.get(flag.type, str)(text)
    except ValueError:
        return UNKNOWN
    return value if flag.choices is None or value in flag.choices else UNKNOWN


def _is_flag(token: Token) -> bool:
    return token.value is not None and token.value.startswith("-") and not _NUMBER.match(token.value)


def parse(site: LaunchSite, release: str) -> tuple[dict[str, Setting], tuple[FlagUse, ...], tuple[Any, ...]]:
    settings = dict(defaults(release))
    uses, index, argv = [], 0, site.argv
    while index < len(argv):
        token = argv[index]
        spelling, equals, attached = (token.value or "").partition("=")
        flag = table(release).match(spelling).flag if spelling.startswith("--") else None
        if token.value is None or flag is None:
            index += 1
            continue
        last = index
        many = flag.nargs in ("*", "+") or isinstance(flag.nargs, int)
        while not equals and flag.nargs != 0 and last + 1 < len(argv) and not _is_flag(argv[last + 1]):
            last += 1
            if not many:
                break
        texts = [attached] if equals else [word.value for word in argv[index + 1 : last + 1]]
        values = [_convert(text, flag) for text in texts]
        value = (flag.const if flag.nargs == 0 else values) if many or not values else values[0]
        place = Place(token.place.document, Span(token.place.span.start, argv[last].place.span.end))
        origin = INLINE_DEFAULT if any(word.state == DEFAULT for word in argv[index : last + 1]) else FILE
        settings[flag.writes] = Setting(value, origin, place, preferred(flag))
        uses.append(FlagUse(flag.setting, spelling, value, index, last))
        index = last + 1
    return settings, tuple(uses), ()
