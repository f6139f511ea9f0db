"""What the rules on environment variables share: which of a launch's variables are the engine's own, what its release knows
of them, and how one is renamed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from preflight.diagnostics import UNSAFE, Fix
from preflight.engines.base import Launch
from preflight.engines.versions import parse_version
from preflight.launch import EnvVar
from preflight.text import Edit, Span

if TYPE_CHECKING:
    from preflight.catalog.variables import Variable, VariableHistory, Variables, VariableTable

_PREFIXES = {"sglang": ("SGLANG_", "SGL_")}


def given(launch: Launch, engine: str = "") -> dict[str, EnvVar]:
    """The variables of a launch by name, the last of each; none where the launch is of another engine than `engine`."""
    if engine and launch.engine.name != engine:
        return {}
    return {variable.name: variable for variable in launch.site.env}


def own(launch: Launch) -> Iterator[tuple[EnvVar, VariableTable]]:
    """The variables that by their prefix are the engine's, with the table of its release."""
    prefixes = _PREFIXES.get(launch.engine.name)
    if prefixes is None or not launch.version.known:
        return
    found = [variable for name, variable in given(launch).items() if name.startswith(prefixes)]
    table = _book(launch.engine.name).at(launch.version.text) if found else None
    if table is not None:
        yield from ((variable, table) for variable in found)


def strangers(launch: Launch) -> Iterator[tuple[EnvVar, VariableTable, VariableHistory | None]]:
    """The engine's variables that its release does not have, nor another one that the project allows."""
    for variable, table in own(launch):
        if table.get(variable.name) is None and not _elsewhere(launch, variable.name):
            yield variable, table, _book(launch.engine.name).history(variable.name)


def known(launch: Launch) -> Iterator[tuple[EnvVar, Variable]]:
    """The engine's variables that its release has."""
    for variable, table in own(launch):
        entry = table.get(variable.name)
        if entry is not None:
            yield variable, entry


def _elsewhere(launch: Launch, name: str) -> bool:
    if launch.version.given is not None:
        return False
    tables = (_book(launch.engine.name).at(text) for text in launch.version.others)
    return any(table is not None and table.get(name) is not None for table in tables)


@lru_cache(maxsize=2)
def _book(engine: str) -> Variables:
    from preflight.catalog.variables import load_variables

    return load_variables(engine)


def came_later(launch: Launch, history: VariableHistory) -> bool:
    """Whether the variable is of a later release than the launch's."""
    first = parse_version(history.added_in)
    return first is not None and first > launch.version.version


def renamed(variable: EnvVar, new: str, applicability: str = UNSAFE) -> tuple[Fix, ...]:
    """A fix that gives a variable another name; nothing where its name does not stand in the file as it is."""
    edit = rename(variable, new)
    return () if edit is None else (Fix(f"Rename {variable.name} to {new}", (edit,), applicability),)


def rename(variable: EnvVar, new: str) -> Edit | None:
    document, span = variable.name_place
    at = document.text.find(variable.name, span.start, span.end)
    if at < 0:
        return None
    return Edit(document.path, Span(at, at + len(variable.name)), new)


def same_unit(old: str, new: str) -> bool:
    """Whether the value of a renamed variable keeps its meaning: some counted milliseconds, and some said the opposite."""
    return old.endswith("_MS") == new.endswith("_MS") and ("DISABLE" in old) == ("DISABLE" in new)


def ignored(launch: Launch) -> str:
    """`SGLang 0.5.9 ignores it`."""
    return f"{launch.engine.title} {launch.version.text} ignores it"
