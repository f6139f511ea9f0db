"""SGLang's command line, read by the catalogue of its flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preflight.engines.base import FlagUse
from preflight.engines.steps import ENGINE_DEFAULT, FILE, INLINE_DEFAULT, UNKNOWN, Setting
from preflight.engines.versions import Version
from preflight.launch import DEFAULT, LaunchSite
from preflight.text import Place, Span

_ALIASES = {"tp": "tp-size", "dp": "dp-size", "pp-size": "pp-size", "tensor-parallel-size": "tp-size", "model": "model-path"}
_DEFAULTS: dict[str, Any] = {
    "tp-size": 1,
    "pp-size": 1,
    "dp-size": 1,
    "ep-size": 1,
    "kv-cache-dtype": "auto",
    "max-prefill-tokens": 16384,
}


def releases() -> Sequence[str]:
    return ("0.4.6.post5", "0.5.9", "0.5.23")


def spelling(name: str, version: Version) -> str:
    return "--" + name


def _convert(text: str | None) -> Any:
    if text is None:
        return UNKNOWN
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse(site: LaunchSite, release: str) -> tuple[dict[str, Setting], tuple[FlagUse, ...], tuple[Any, ...]]:
    settings: dict[str, Setting] = {name: Setting(value, ENGINE_DEFAULT) for name, value in _DEFAULTS.items()}
    uses, index = [], 0
    while index < len(site.argv):
        token = site.argv[index]
        if token.value is None or not token.value.startswith("--"):
            index += 1
            continue
        last = index
        while last + 1 < len(site.argv) and not (site.argv[last + 1].value or "").startswith("--"):
            last += 1
        name = token.value[2:]
        name = _ALIASES.get(name, name)
        value = True if last == index else _convert(site.argv[index + 1].value)
        place = Place(token.place.document, Span(token.place.span.start, site.argv[last].place.span.end))
        origin = INLINE_DEFAULT if any(word.state == DEFAULT for word in site.argv[index : last + 1]) else FILE
        settings[name] = Setting(value, origin, place, token.value)
        uses.append(FlagUse(name, token.value, value, index, last))
        index = last + 1
    return settings, tuple(uses), ()
