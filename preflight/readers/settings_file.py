"""Reading preflight.toml and [tool.preflight], with what is wrong in them at its place."""

import os
import re
from collections.abc import Mapping

from preflight.diagnostics import ERROR, Problem
from preflight.launch import Table
from preflight.readers.launch_keys import FILES, SETTINGS, TABLE, TABLES, Keys
from preflight.readers.toml import load, locate
from preflight.readers.toml_scan import Item
from preflight.readers.values import read_table, read_value, unknown_key, wrong_type
from preflight.settings import FILE_NAMES, Codes, FileSettings, Section, Settings
from preflight.text import Document, Located

_CONTEXT = ("hardware", "model", "observed", "expect")


def read_settings(document: Document) -> Settings | None:
    """The settings in a document; None for a pyproject.toml that has none."""
    in_pyproject = os.path.basename(document.path) == FILE_NAMES[1]
    if in_pyproject and "preflight" not in document.text:
        return None
    data = load(document)
    if isinstance(data, Problem):
        if in_pyproject and re.search(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*preflight\b", document.text, re.M) is None:
            return None
        return Settings(document, problems=(_as_error(data),))
    root: Item | None = locate(document, data).root if not in_pyproject or _has_table(data) else None
    if in_pyproject and root is not None:
        root = _inside(root, "tool", "preflight")
    if root is None:
        return None
    return _Reader(document).read(root)


def _as_error(problem: Problem) -> Problem:
    return problem._replace(finding=problem.finding._replace(severity=ERROR))


def _has_table(data: dict[str, object]) -> bool:
    tool = data.get("tool")
    return isinstance(tool, dict) and "preflight" in tool


def _inside(item: Item, *path: str) -> Item:
    for name in path:
        item = (item.entries or {})[name]
    return item


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def read(self, root: Item) -> Settings:
        if root.entries is None:
            self.problems.append(wrong_type(root, "tool.preflight", "a table", "Write [tool.preflight] and its keys below it."))
            return Settings(self.document, problems=tuple(self.problems))
        values, context = self._section(root, SETTINGS, "")
        sections = [Section(None, context._replace(ignore=()))]
        files = root.entries.get("files")
        for pattern, table in (files.entries or {}).items() if files is not None else ():
            if table.entries is None:
                self.problems.append(wrong_type(table, pattern, "a table", f'Write [files."{pattern}"] and its keys below it.'))
                continue
            _, context = self._section(table, FILES, f'files."{pattern}"')
            sections.append(Section(Located(pattern, table.key_place), context))
        fail_on = values.get("fail-on")
        return Settings(
            self.document,
            tuple(sections),
            _codes(values, "select"),
            _codes(values, "extend-select"),
            _codes(values, "ignore"),
            _codes(values, "exclude"),
            None if fail_on is None else Located(str(fail_on.value), fail_on.place),
            tuple(self.problems),
        )

    def _section(self, table: Item, keys: Keys, where: str) -> tuple[dict[str, Located[object]], FileSettings]:
        values: dict[str, Located[object]] = {}
        tables: dict[str, Table] = {}
        for name, item in (table.entries or {}).items():
            key = keys.get(name)
            if key is None:
                if name != "$schema":
                    self.problems.append(unknown_key(item, name, keys, where, table))
            elif key.kind != TABLE:
                value = read_value(item, name, key, self.problems.append)
                if value is not None:
                    values[name] = Located(value, item.place)
            elif item.entries is None:
                self.problems.append(wrong_type(item, name, "a table", f"Write [{name}] and its keys below it."))
            elif name in _CONTEXT:
                tables[name] = read_table(item, TABLES[name], name, self.problems.append)
        version = values.get("engine-version")
        given = None if version is None else Located(str(version.value), version.place)
        return values, FileSettings(tables, given, _codes(values, "ignore"))


def _codes(values: Mapping[str, Located[object]], name: str) -> Codes:
    found = values.get(name)
    return found.value if found is not None and isinstance(found.value, tuple) else ()
