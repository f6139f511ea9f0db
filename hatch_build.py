"""Puts all rules into one module of the wheel: reading a hundred small files costs more than a lint of a small one.

A checkout and an editable install read the rule modules themselves, so a new rule needs no build.
"""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path
from textwrap import indent
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_HEAD = '"""All rule modules, made by hatch_build.py. Their documentation is in the modules themselves."""\n\n'


def bundle(rules: Path) -> str:
    """The modules below `rules/`, each as a function that returns its names. What they import is imported once for all."""
    functions, names = [], []
    imported: dict[str, str] = {}
    for number, path in enumerate(sorted(rules.glob("*/*.py"))):
        if path.name.startswith("_"):
            continue
        statements = _without_imports(_without_documentation(ast.parse(path.read_text(encoding="utf-8"))), imported)
        body = "\n".join(map(ast.unparse, statements))
        functions.append(f"def _{number}():\n{indent(body, '    ')}\n    return locals()\n")
        names.append(f"    ({f'preflight.rules.{path.parent.name}.{path.stem}'!r}, _{number}),")
    imports = "\n".join(imported.values())
    return _HEAD + imports + "\n\n\n" + "\n\n".join(functions) + "\n\nMODULES = (\n" + "\n".join(names) + "\n)\n"


def _without_imports(statements: list[ast.stmt], imported: dict[str, str]) -> list[ast.stmt]:
    """The statements without the imports that `imported` has, or can take, under the name that they bind."""
    kept = []
    for statement in statements:
        if isinstance(statement, ast.ImportFrom):
            statement.names = [name for name in statement.names if not _taken(statement, name, imported)]
            if not statement.names:
                continue
        kept.append(statement)
    return kept


def _taken(statement: ast.ImportFrom, name: ast.alias, imported: dict[str, str]) -> bool:
    text = ast.unparse(ast.ImportFrom(statement.module, [name], statement.level))
    return imported.setdefault(name.asname or name.name, text) == text


def _without_documentation(tree: ast.Module) -> list[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return [node for node in tree.body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc, type-arg, unused-ignore]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        file = Path(tempfile.mkdtemp()) / "bundle.py"
        file.write_text(bundle(Path(self.root) / "rules"), encoding="utf-8")
        build_data["force_include"][str(file)] = "preflight/rules/bundle.py"
