"""The Python source of an engine's release, read from its wheel. Nothing of it is ever imported."""

from __future__ import annotations

import ast
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


class Module:
    """One parsed source file: its path in the package and what its names are bound to at the top level."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.bindings: dict[str, ast.stmt] = {}
        self.imports: dict[str, tuple[str, str | None]] = {}
        """Local name to (dotted module, name in it or None for the module itself)."""
        package = PurePosixPath(path).parent.parts
        for node in ast.walk(tree):
            self._note_import(node, package)
        for statement in _flat(tree.body):
            for name in _bound_names(statement):
                self.bindings[name] = statement

    def _note_import(self, node: ast.AST, package: tuple[str, ...]) -> None:
        # Imports inside functions count too: several choice lists are only reachable through one.
        if isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            module = ".".join([*base, node.module] if node.module else base)
            for alias in node.names:
                self.imports[alias.asname or alias.name] = (module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self.imports[alias.asname or alias.name.partition(".")[0]] = (alias.name, None)


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block, those of its `if` and `try` blocks included."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _flat(statement.orelse)
            yield from _flat(statement.body)
        elif isinstance(statement, ast.Try):
            for handler in statement.handlers:
                yield from _flat(handler.body)
            yield from _flat(statement.body)
        else:
            yield statement


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


class Source:
    """The files of one release: a wheel, or the folder of an unpacked one. Raises OSError, or ValueError for
    neither.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = None if path.is_dir() else zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise ValueError(f"{path} is not a wheel: {error}") from error
        if self._zip is not None:
            self._names = {name for name in self._zip.namelist() if not name.endswith("/")}
        else:
            self._names = {str(PurePosixPath(*p.relative_to(path).parts)) for p in path.rglob("*") if p.is_file()}
        self._modules: dict[str, Module | None] = {}

    @property
    def version(self) -> str:
        """From the wheel's METADATA. Raises ValueError where there is none."""
        for name in sorted(self._names):
            if re.fullmatch(r"[^/]+\.dist-info/METADATA", name):
                found = re.search(r"^Version: *(\S+)", self.text(name) or "", re.MULTILINE)
                if found:
                    return found[1]
        raise ValueError(f"{self.path} is not a wheel: it has no METADATA with a version")

    def paths(self, *suffixes: str) -> list[str]:
        return sorted(name for name in self._names if name.endswith(suffixes))

    def data(self, path: str) -> bytes | None:
        if path not in self._names:
            return None
        return self._zip.read(path) if self._zip is not None else (self.path / path).read_bytes()

    def text(self, path: str) -> str | None:
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace")

    def module(self, path: str) -> Module | None:
        """The module at `path` ("sglang/srt/server_args.py"); None where there is none, or it does not parse."""
        if path not in self._modules:
            text = self.text(path)
            self._modules[path] = None if text is None else parse(path, text)
        return self._modules[path]

    def dotted(self, name: str) -> Module | None:
        """The module `sglang.srt.environ`, a package's `__init__` included."""
        stem = name.replace(".", "/")
        return self.module(f"{stem}.py") or self.module(f"{stem}/__init__.py")


def parse(path: str, text: str) -> Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return Module(path, ast.parse(text))
    except (SyntaxError, ValueError):
        return None
