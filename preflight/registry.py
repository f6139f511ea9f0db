"""All rules, found by a scan of the folder `rules/`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from preflight.diagnostics import ERROR, WARNING, Rule
from preflight.engines.steps import DIES, REFUSES, SETS, Row, Topic
from preflight.records import NamedTuple
from preflight.rule import Check


class Registry(NamedTuple):
    """`rules` by code; `checks` in the order of their codes; `topics`: rows with the topic that they belong to."""

    rules: dict[str, Rule]
    checks: tuple[Check, ...]
    topics: tuple[tuple[Row, Topic], ...]
    modules: dict[str, str]
    """The module that documents a code."""

    def find(self, name: str) -> Rule | None:
        """A rule by code, name or former name."""
        wanted = name.strip()
        for rule in self.rules.values():
            if wanted.upper() == rule.code or wanted.lower() in (rule.name, *rule.aliases):
                return rule
        return None

    def documentation(self, code: str) -> str:
        return import_module(self.modules[code]).__doc__ or ""


def module_names() -> list[str]:
    """The rule modules: `rules/<theme>/<mistake>.py`."""
    import preflight.rules

    names: list[str] = []
    for root in preflight.rules.__path__:
        with os.scandir(root) as themes:
            for theme in themes:
                if not theme.is_dir() or theme.name.startswith(("_", ".")):
                    continue
                with os.scandir(theme.path) as files:
                    names.extend(
                        f"preflight.rules.{theme.name}.{file.name[:-3]}"
                        for file in files
                        if file.name.endswith(".py") and not file.name.startswith("_")
                    )
    return sorted(set(names))


@lru_cache(maxsize=1)
def registry() -> Registry:
    rules: dict[str, Rule] = {}
    modules: dict[str, str] = {}
    checks: list[Check] = []
    topics: list[tuple[Row, Topic]] = []
    for name, names in _modules():
        topic = names.get("TOPIC")
        if topic is not None:
            rules[topic.code] = _rule_of(topic, names["ROWS"])
            modules[topic.code] = name
            topics.extend((row, topic) for row in names["ROWS"])
        for value in names.values():
            kind = type(value)
            if kind is Check:
                checks.append(value)
            elif kind is Rule:
                rules[value.code] = value
                modules.setdefault(value.code, name)
    checks.sort(key=lambda check: check.rule.code)
    return Registry(dict(sorted(rules.items())), tuple(checks), tuple(topics), modules)


def _modules() -> Iterator[tuple[str, dict[str, Any]]]:
    """The names of every rule module: from the wheel's one module for all of them, else from the files."""
    import preflight.rules

    if len(preflight.rules.__path__) == 1:
        try:
            bundle = import_module("preflight.rules.bundle")
        except ImportError:
            pass
        else:
            yield from ((name, names()) for name, names in bundle.MODULES)
            return
    yield from ((name, vars(import_module(name))) for name in module_names())


def _rule_of(topic: Topic, rows: tuple[Row, ...]) -> Rule:
    """The worst severity and the earliest stage that the topic's rows have."""
    fatal = [row for row in rows if row.effect in (REFUSES, DIES)]
    speaking = [row for row in rows if row.effect != SETS or row.says is not None]
    stage = next((row.stage or "arguments" for row in fatal), None)
    return Rule(topic.code, topic.name, ERROR if fatal else WARNING, stage if speaking else None, topic.aliases)
