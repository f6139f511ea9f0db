"""What a constant expression of an engine's source says, worked out from its syntax tree.

Enough of Python for option declarations: literals, module and class constants across imports, list sums, `list(...)`
of a dictionary's keys, comprehensions over enum members, and helper functions that return such a thing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping

from preflight.catalog.source import Module, Source
from preflight.records import NamedTuple

SUPPRESS = "==SUPPRESS=="
"""What argparse.SUPPRESS is."""


class Unresolved(Exception):
    """The expression is beyond static evaluation."""


class ClassRef(NamedTuple):
    module: Module
    node: ast.ClassDef


class Member(NamedTuple):
    """A member of an enum class."""

    name: str
    value: object


class Opaque(NamedTuple):
    """Something that exists and whose value does not matter, as the values of a registry."""

    text: str


Scope = Mapping[str, ast.expr]

_ENUM_BASES = {"Enum", "IntEnum", "StrEnum", "str_enum"}


class Evaluator:
    """Evaluates expressions of `source`'s modules. `functions` adds calls by name that only their caller
    understands.
    """

    def __init__(self, source: Source, functions: Mapping[str, Callable[[list[object]], object]] | None = None) -> None:
        self._source = source
        self._functions = functions or {}
        self._depth = 0

    def value(self, node: ast.expr, module: Module, scope: Scope | None = None) -> object:
        """The value of `node`. Raises Unresolved."""
        self._depth += 1
        try:
            if self._depth > 60:
                raise Unresolved("recursion")
            return self._value(node, module, scope or {})
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, module: Module, scope: Scope) -> object:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            items: list[object] = []
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    items += self._sequence(self.value(element.value, module, scope))
                else:
                    items.append(self._item(element, module, scope))
            return items
        if isinstance(node, ast.Dict):
            return {
                self.value(key, module, scope): self._item(item, module, scope)
                for key, item in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        if isinstance(node, ast.Name):
            return self.name(node.id, module, scope)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, module, scope)
        if isinstance(node, ast.BinOp):
            return _operate(node.op, self.value(node.left, module, scope), self.value(node.right, module, scope))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.value(node.operand, module, scope)
            if isinstance(operand, (int, float)):
                return -operand
        if isinstance(node, ast.JoinedStr):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values)
        if isinstance(node, ast.Subscript):
            owner, index = self.value(node.value, module, scope), self.value(node.slice, module, scope)
            if isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
                return owner[index]
        if isinstance(node, ast.ListComp):
            return self._comprehension(node, module, scope)
        if isinstance(node, ast.Call):
            return self._call(node, module, scope)
        raise Unresolved(ast.dump(node)[:80])

    def _item(self, node: ast.expr, module: Module, scope: Scope) -> object:
        try:
            return self.value(node, module, scope)
        except Unresolved:
            return Opaque(ast.unparse(node))

    def name(self, name: str, module: Module, scope: Scope) -> object:
        if name in scope:
            rest = {key: value for key, value in scope.items() if key != name}
            return self.value(scope[name], module, rest)
        bound = module.bindings.get(name)
        if isinstance(bound, (ast.Assign, ast.AnnAssign)) and bound.value is not None:
            return self.value(bound.value, module)
        if isinstance(bound, ast.ClassDef):
            return ClassRef(module, bound)
        if name in module.imports:
            dotted, original = module.imports[name]
            if original is not None:
                target = self._source.dotted(dotted)
                if target is not None and target is not module:
                    return self.name(original, target, {})
        raise Unresolved(name)

    def _attribute(self, node: ast.Attribute, module: Module, scope: Scope) -> object:
        spelled = ast.unparse(node)
        if spelled == "argparse.SUPPRESS":
            return SUPPRESS
        if spelled == "sys.maxsize":
            return sys.maxsize
        owner = self._owner(node.value, module, scope)
        if isinstance(owner, Member):
            if node.attr == "name":
                return owner.name
            if node.attr == "value":
                return owner.value
        if isinstance(owner, ClassRef):
            return self.class_attribute(owner, node.attr)
        raise Unresolved(spelled)

    def _owner(self, node: ast.expr, module: Module, scope: Scope) -> object:
        if isinstance(node, ast.Name) and node.id in module.imports and node.id not in scope:
            dotted, original = module.imports[node.id]
            if original is None or self._source.dotted(f"{dotted}.{original}"):
                raise Unresolved(node.id)  # a module: nothing here needs one
        return self.value(node, module, scope)

    def class_attribute(self, owner: ClassRef, name: str) -> object:
        """The value of a class attribute; an enum's is a Member."""
        assigned = class_assignments(owner.node)
        if name in assigned:
            scope = {key: value for key, value in assigned.items() if key != name}
            value = self._item(assigned[name], owner.module, scope)
            return Member(name, value) if _is_enum(owner.node) else value
        for base in owner.node.bases:
            if isinstance(base, ast.Name):
                try:
                    parent = self.name(base.id, owner.module, {})
                    if isinstance(parent, ClassRef):
                        return self.class_attribute(parent, name)
                except Unresolved:
                    continue
        raise Unresolved(f"{owner.node.name}.{name}")

    def _sequence(self, value: object) -> list[object]:
        if isinstance(value, list):
            return value
        if isinstance(value, dict):
            return list(value)
        if isinstance(value, ClassRef) and _is_enum(value.node):
            return [Member(name, self._item(node, value.module, {})) for name, node in class_assignments(value.node).items()]
        raise Unresolved("not a sequence")

    def _comprehension(self, node: ast.ListComp, module: Module, scope: Scope) -> object:
        if len(node.generators) != 1 or node.generators[0].ifs or not isinstance(node.generators[0].target, ast.Name):
            raise Unresolved("comprehension")
        target = node.generators[0].target.id
        items = self._sequence(self.value(node.generators[0].iter, module, scope))
        return [self._of_item(node.elt, target, item) for item in items]

    def _of_item(self, node: ast.expr, target: str, item: object) -> object:
        if isinstance(node, ast.Name) and node.id == target:
            return item
        if isinstance(node, ast.Attribute):
            owner = self._of_item(node.value, target, item)
            if isinstance(owner, Member) and node.attr in ("name", "value"):
                return owner.name if node.attr == "name" else owner.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            owner = self._of_item(node.func.value, target, item)
            if isinstance(owner, str) and node.func.attr in ("lower", "upper"):
                return owner.lower() if node.func.attr == "lower" else owner.upper()
        raise Unresolved("comprehension element")

    def _call(self, node: ast.Call, module: Module, scope: Scope) -> object:
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._method(node, function, module, scope)
        if not isinstance(function, ast.Name):
            raise Unresolved("call")
        name = function.id
        if name in self._functions:
            return self._functions[name]([self.value(argument, module, scope) for argument in node.args])
        if name in ("list", "tuple", "set", "frozenset", "sorted"):
            items = self._sequence(self.value(node.args[0], module, scope)) if node.args else []
            return sorted(items, key=str) if name in ("set", "frozenset", "sorted") else items
        if name in ("field",):
            return self._field(node, module)
        if not node.args and not node.keywords:
            return self._returned(name, module)
        raise Unresolved(name)

    def _method(self, node: ast.Call, function: ast.Attribute, module: Module, scope: Scope) -> object:
        spelled = ast.unparse(function)
        if spelled in ("dataclasses.field", "msgspec.field"):
            return self._field(node, module)
        if spelled == "os.path.expanduser" and node.args:
            return self.value(node.args[0], module, scope)
        owner = self.value(function.value, module, scope)
        if isinstance(owner, (dict, list)) and function.attr in ("keys", "copy"):
            return list(owner)
        if isinstance(owner, dict) and function.attr == "values":
            return list(owner.values())
        raise Unresolved(spelled)

    def _field(self, node: ast.Call, module: Module) -> object:
        """The default that a dataclass or struct field gets."""
        for keyword in node.keywords:
            if keyword.arg == "default":
                return self.value(keyword.value, module)
            if keyword.arg == "default_factory":
                made = keyword.value
                if isinstance(made, ast.Lambda):
                    return self.value(made.body, module)
                if isinstance(made, ast.Name) and made.id in ("list", "tuple", "set"):
                    return []
                if isinstance(made, ast.Name) and made.id == "dict":
                    return {}
        raise Unresolved("field")

    def _returned(self, name: str, module: Module) -> object:
        """What a helper without arguments returns on its last, unconditional line."""
        bound = module.bindings.get(name)
        if bound is None and name in module.imports:
            dotted, original = module.imports[name]
            target = self._source.dotted(dotted)
            if target is not None and original is not None:
                return self._returned(original, target)
        if not isinstance(bound, ast.FunctionDef):
            raise Unresolved(name)
        for statement in reversed(bound.body):
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.value(statement.value, module, local_assignments(bound))
        raise Unresolved(name)


def _is_enum(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).rpartition(".")[2] in _ENUM_BASES for base in node.bases)


def class_assignments(node: ast.ClassDef) -> dict[str, ast.expr]:
    """What the class body assigns, by name, in order."""
    out: dict[str, ast.expr] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            out.update({target.id: statement.value for target in statement.targets if isinstance(target, ast.Name)})
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
            out[statement.target.id] = statement.value
    return out


def local_assignments(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What the function's own body assigns, by name."""
    out: dict[str, ast.expr] = {}
    for statement in function.body:
        if isinstance(statement, ast.Assign):
            out.update({target.id: statement.value for target in statement.targets if isinstance(target, ast.Name)})
    return out


def _operate(operator: ast.operator, left: object, right: object) -> object:
    if isinstance(operator, ast.Add) and isinstance(left, list) and isinstance(right, list):
        return left + right
    if isinstance(left, str) and isinstance(right, str) and isinstance(operator, ast.Add):
        return left + right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if isinstance(operator, ast.Add):
            return left + right
        if isinstance(operator, ast.Sub):
            return left - right
        if isinstance(operator, ast.Mult):
            return left * right
        if isinstance(operator, ast.Pow):
            return left**right
        if isinstance(operator, ast.LShift) and isinstance(left, int) and isinstance(right, int):
            return left << right
        if isinstance(operator, ast.Div):
            return left / right
    raise Unresolved("operator")
