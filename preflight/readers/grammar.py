"""The tree-sitter grammars, without what their packages load besides."""

from __future__ import annotations

from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser


def parser(language: str) -> Parser:
    """A parser for `bash`, `json` or `toml`."""
    import tree_sitter

    return tree_sitter.Parser(tree_sitter.Language(_binding(f"tree_sitter_{language}").language()))


def _binding(package: str) -> ModuleType:
    """The compiled part of a grammar's package: its `__init__` loads importlib.resources, which costs 10 ms.

    Where the package does not lie on the path as a plain folder, it is imported whole.
    """
    home = PathFinder.find_spec(package)
    spec = None if home is None else PathFinder.find_spec("_binding", home.submodule_search_locations)
    module = None if spec is None or spec.loader is None else spec.loader.create_module(spec)
    if spec is None or spec.loader is None or module is None:
        whole: ModuleType = __import__(package)
        return whole
    spec.loader.exec_module(module)
    return module
