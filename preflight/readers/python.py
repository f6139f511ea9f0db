"""Launches in Python: a list of literals given to a process call, or a command line given to a shell."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from preflight.launch import DEFAULT, KNOWN, OPAQUE, UNKNOWN_STATE, LaunchSite, Reading, Token
from preflight.readers.container import container_sites
from preflight.readers.editing import Argument, Slot
from preflight.readers.listedit import FlowList
from preflight.readers.script import Script
from preflight.readers.shell import Context, distinct, script_sites
from preflight.readers.words import ANCHOR
from preflight.readers.yamltree import whole_text
from preflight.text import VERBATIM, Decoded, Document, Text

_CALLS = frozenset({"system", "run", "Popen", "call", "check_call", "check_output", "getoutput", "create_subprocess_shell"})
_LITERAL = re.compile(r"(?P<raw>[rR]?)(?P<quote>\"\"\"|'''|\"|')")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


class StringCodec:
    """One string literal without prefixes but `r`."""

    def decode(self, raw: str) -> Decoded | None:
        match = _LITERAL.match(raw)
        if match is None:
            return None
        quote, start, end = match.group("quote"), match.end(), len(raw) - len(match.group("quote"))
        if end < start or raw[end:] != quote:
            return None
        values: list[str] = []
        starts: list[int] = []
        at = start
        while at < end:
            starts.append(at)
            if raw[at] == "\\" and not match.group("raw"):
                value = _ESCAPES.get(raw[at + 1]) if at + 1 < end else None
                if value is None:
                    return None
                values.append(value)
                at += 2
            elif raw.startswith(quote, at) or (raw[at] in "\r\n" and len(quote) == 1):
                return None
            else:
                values.append(raw[at])
                at += 1
        return Decoded("".join(values), 0, [*starts, end], [*starts[1:], end] if starts else [])

    def encode(self, fragment: str) -> str | None:
        return fragment.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'").replace("\n", "\\n")


_STRING = StringCodec()


class _Module:
    """A parsed file, with character offsets for its nodes."""

    def __init__(self, document: Document, tree: ast.Module) -> None:
        self.document = document
        self.tree = tree
        text = Text.of(document, 0, len(document.text), VERBATIM)
        assert text is not None  # the layer that changes nothing reads everything
        self.text = text
        self.lines = [0]
        for match in re.finditer(r"\r\n|\n|\r", document.text):
            self.lines.append(match.end())
        self.names: dict[str, list[ast.expr]] = {}
        self.grown: set[str] = set()
        self.loads: dict[str, int] = {}
        for node in ast.walk(tree):
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.names.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.names.setdefault(node.target.id, []).append(node.value)
            self.grown.add(node.target.id)
        elif isinstance(node, ast.Attribute) and node.attr in ("extend", "append", "insert") and isinstance(node.value, ast.Name):
            self.grown.add(node.value.id)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.loads[node.id] = self.loads.get(node.id, 0) + 1

    def offset(self, line: int, column: int) -> int:
        start = self.lines[line - 1]
        text = self.document.text
        if text.isascii():
            return start + column
        stop = self.lines[line] if line < len(self.lines) else len(text)
        return start + len(text[start:stop].encode("utf-8")[:column].decode("utf-8", "ignore"))

    def span(self, node: ast.expr) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def constant(self, node: ast.Name) -> ast.Constant | None:
        """The one literal that a name in capitals is set to."""
        values = self.names.get(node.id, [])
        if len(values) == 1 and node.id.isupper() and node.id not in self.grown and isinstance(values[0], ast.Constant):
            return values[0]
        return None

    def string(self, node: ast.Constant) -> Text:
        """A string constant with its quotes as a layer; without places inside where it is written in pieces."""
        start, end = self.span(node)
        text = self.text.inner(start, end, _STRING)
        return text if text is not None and text.value == node.value else whole_text(self.text, start, end, str(node.value))


def read(document: Document) -> Reading:
    try:
        with warnings.catch_warnings(action="ignore"):  # what is odd in somebody else's Python is not ours to say
            tree = ast.parse(document.text)
        module = _Module(document, tree)
        return Reading(tuple(distinct(_sites(module))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not a file of this Python, or one that nobody wrote
        return Reading(())


def _sites(module: _Module) -> Iterator[LaunchSite]:
    context = Context(module.document, "python")
    grown = {id(value) for name in module.grown for value in module.names.get(name, ())}
    added = {id(side) for node in ast.walk(module.tree) if isinstance(node, ast.BinOp) for side in (node.left, node.right)}
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.List, ast.Tuple)) and _names_engine(node):
            whole = id(node) not in grown and id(node) not in added
            start, end = module.span(node)
            place = module.document.place(start, end)
            yield from container_sites(None, _arguments(module, node), None, context._replace(whole=whole, extent=place))
        elif isinstance(node, ast.Call) and node.args and _called(node) in _CALLS:
            command = node.args[0]
            if isinstance(command, ast.Constant) and isinstance(command.value, str) and ANCHOR.search(command.value):
                yield from script_sites(Script(module.string(command)), context)


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _names_engine(node: ast.List | ast.Tuple) -> bool:
    return any(isinstance(item, ast.Constant) and isinstance(item.value, str) and ANCHOR.search(item.value) for item in node.elts)


def _arguments(module: _Module, node: ast.List | ast.Tuple) -> list[Argument]:
    container = FlowList(module.text, [module.span(item) for item in node.elts], ['"'] * len(node.elts), json_only=True)
    found = []
    for number, item in enumerate(node.elts):
        token = _token(module, item)
        slot = Slot(container, number)
        origin = Script(token.at) if token.value is not None else None
        found.append(Argument(token, None if token.state == OPAQUE else slot, slot, origin))
    return found


def _token(module: _Module, node: ast.expr) -> Token:
    start, end = module.span(node)
    at = module.text.inner(start, end)
    assert at is not None
    if isinstance(node, ast.Starred):
        return Token(None, at, None, OPAQUE, pattern=at.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = module.string(node)
        return Token(text.value, text, text)
    value = _value(module, node)
    if value is not None:
        definition = module.constant(node) if isinstance(node, ast.Name) else None
        place = None if definition is None else module.document.place(*module.span(definition))
        once = isinstance(node, ast.Name) and module.loads.get(node.id) == 1
        source = module.string(definition) if once and definition is not None and isinstance(definition.value, str) else None
        return Token(value[0], at, source, value[1], place)
    return Token(None, at, None, UNKNOWN_STATE, pattern=_pattern(node))


def _value(module: _Module, node: ast.expr) -> tuple[str, str] | None:
    """A value that is known without running anything, and how sure it is."""
    if isinstance(node, ast.Call) and _called(node) == "str" and len(node.args) == 1:
        return _value(module, node.args[0])
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float)) and not isinstance(node.value, bool):
        return str(node.value), KNOWN
    if isinstance(node, ast.Name):
        constant = module.constant(node)
        return None if constant is None else _value(module, constant)
    if isinstance(node, ast.Call) and _called(node) in ("getenv", "get") and len(node.args) == 2:
        default = _value(module, node.args[1])
        return None if default is None else (default[0], DEFAULT)
    return None


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "${}" for part in node.values)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return "${" + name + "}"
