"""The environment variables that a release of SGLang reads, from its source.

Three degrees of knowledge: a *registered* variable has a type and a default (class `Envs`, 0.5.3 on); a *read* one
is fetched from `os.environ` by name; a *mentioned* one only occurs as a word, in Python or a kernel's source, which
is enough to not call it unknown.

Source: sglang `srt/environ.py`, and every file of the wheel.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from preflight.catalog.evaluate import Evaluator, Member, Unresolved
from preflight.catalog.source import Module, Source
from preflight.records import NamedTuple

ENVIRON = "sglang/srt/environ.py"
REGISTERED, READ, MENTIONED = "registered", "read", "mentioned"

_WORD = re.compile(rb"\bSGL(?:ANG)?_[A-Z0-9][A-Z0-9_]*[A-Z0-9]\b")
_NOTHING = ast.Constant(None)
_FLAG = re.compile(r"--[a-z][a-z0-9-]+")
_SOURCES = (".py", ".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".c", ".rs", ".sh")


class Variable(NamedTuple):
    """One variable of one release. `computed`: the default depends on the machine or on other variables.

    `replaced_by` is the variable that takes its place, `flag` the option that does; both only where the release says
    so.
    """

    name: str
    kind: str
    type: str | None = None
    default: object = None
    computed: bool = False
    deprecated: bool = False
    replaced_by: str | None = None
    flag: str | None = None


def read_environment(source: Source) -> list[Variable]:
    """Every variable of the release, by name."""
    found = {name: Variable(name, MENTIONED) for name in _mentioned(source)}
    for variable in _read_by_name(source):
        before = found.get(variable.name)
        if before is None or before.kind == MENTIONED or before.default is None:
            found[variable.name] = variable
    module = source.module(ENVIRON)
    if module is not None:
        for variable in _registered(source, module):
            found[variable.name] = variable
        for name, successor, flag in _retired(module):
            found[name] = found.get(name, Variable(name, MENTIONED))._replace(deprecated=True, replaced_by=successor, flag=flag)
    return [found[name] for name in sorted(found)]


def _mentioned(source: Source) -> set[str]:
    names: set[str] = set()
    for path in source.paths(*_SOURCES):
        names.update(word.decode("ascii") for word in _WORD.findall(source.data(path) or b""))
    return names


# -- the registry ------------------------------------------------------------------------------------------------------


def _registered(source: Source, module: Module) -> Iterator[Variable]:
    registry = module.bindings.get("Envs")
    evaluator = Evaluator(source)
    for statement in registry.body if isinstance(registry, ast.ClassDef) else ():
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        kind = ast.unparse(statement.value.func)
        if not kind.startswith("Env"):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Name):
                default, computed = _default(statement.value, evaluator, module)
                type_name = kind.removeprefix("Env").removesuffix("WithAlias").lower()
                yield Variable(target.id, REGISTERED, type_name, default, computed)


def _default(call: ast.Call, evaluator: Evaluator, module: Module) -> tuple[object, bool]:
    """The default and whether it is computed, then None."""
    node = next((keyword.value for keyword in call.keywords if keyword.arg == "default"), None)
    node = call.args[0] if call.args else node
    if node is None or isinstance(node, ast.Lambda):
        return None, node is not None
    try:
        value = evaluator.value(node, module)
    except Unresolved:
        return None, True
    value = value.value if isinstance(value, Member) else value
    return (None, True) if not isinstance(value, (str, int, float, bool, list, type(None))) else (value, False)


def _retired(module: Module) -> Iterator[tuple[str, str | None, str | None]]:
    """Old name, and the variable or option that took its place, of all the ways in which releases have said so."""
    evaluated = {name: node for name, node in module.bindings.items() if isinstance(node, (ast.Assign, ast.AnnAssign))}
    table = evaluated.get("_DEPRECATED_ENVS")
    if table is not None and isinstance(table.value, ast.Dict):
        for key, value in zip(table.value.keys, table.value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Call):
                said = {keyword.arg: _text(keyword.value) for keyword in value.keywords}
                successor = said.get("replacement") or (_text(value.args[0]) if value.args else None)
                yield str(key.value), successor, _flag_in(said.get("note"))
    old_first = _takes_old_name_first(module)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield from _retired_by_call(node, module, old_first)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and _named_deprecated(node):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    yield str(key.value), str(value.value), None


def _retired_by_call(node: ast.Call, module: Module, old_first: bool) -> Iterator[tuple[str, str | None, str | None]]:
    function = node.func.id if isinstance(node.func, ast.Name) else ""
    first, second = [_text(argument) for argument in (*node.args[:2], _NOTHING, _NOTHING)][:2]
    alias = next((_text(keyword.value) for keyword in node.keywords if keyword.arg == "deprecated_name"), None)
    if function == "_print_deprecated_env" and first:
        yield (first, second, None) if old_first or second is None else (second, first, None)
    elif function == "_warn_deprecated_env_to_cli_flag" and first:
        yield first, None, _flag_in(second)
    elif alias is not None:
        yield alias, _assigned_name(module, node), None


def _named_deprecated(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id.startswith("_deprecated") for target in node.targets)


def _takes_old_name_first(module: Module) -> bool:
    """The order of the names changed between releases."""
    function = module.bindings.get("_print_deprecated_env")
    return isinstance(function, ast.FunctionDef) and function.args.args[0].arg.startswith("old")


def _assigned_name(module: Module, call: ast.Call) -> str | None:
    registry = module.bindings.get("Envs")
    for statement in registry.body if isinstance(registry, ast.ClassDef) else ():
        if isinstance(statement, ast.Assign) and statement.value is call and isinstance(statement.targets[0], ast.Name):
            return statement.targets[0].id
    return None


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    return None


def _flag_in(text: str | None) -> str | None:
    found = _FLAG.search(text or "")
    return found[0] if found else None


# -- reads by name -----------------------------------------------------------------------------------------------------

# Text patterns, not syntax trees: some hundred names in thousands of files, and a comment that matches does no harm.
_STRING = r"""["']([A-Z][A-Z0-9_]*[A-Z0-9])["']"""
_LITERAL = r"""(?:\s*,\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|(True|False|-?\d+(?:\.\d+)?)))?"""
_FETCH = re.compile(rf"\b(getenv|environ\.get|environ\.pop|get_bool_env_var|get_int_env_var|getenv_int)\(\s*{_STRING}{_LITERAL}")
_INDEX = re.compile(rf"\benviron\[\s*{_STRING}\s*\](?!\s*=[^=])|{_STRING}\s+(?:not\s+)?in\s+(?:os\.)?environ\b")
_FETCHED_TYPES = {"get_bool_env_var": "bool", "get_int_env_var": "int", "getenv_int": "int"}
_CONSTANTS = {"True": True, "False": False}


def _read_by_name(source: Source) -> Iterator[Variable]:
    for path in source.paths(".py"):
        text = source.text(path) or ""
        for fetch in _FETCH.finditer(text):
            function, name, double, single, constant = fetch.groups()
            default: object = double if double is not None else single
            if constant is not None:
                default = _CONSTANTS[constant] if constant in _CONSTANTS else float(constant)
                default = int(default) if isinstance(default, float) and default.is_integer() else default
            yield Variable(name, READ, _FETCHED_TYPES.get(function, "str"), default)
        for index in _INDEX.finditer(text):
            yield Variable(index[1] or index[2], READ, "str")
