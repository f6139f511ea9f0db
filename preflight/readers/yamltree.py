"""YAML as a tree of nodes with places, built from parser events: what comes before a syntax error is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from preflight.diagnostics import Finding, Problem
from preflight.readers.yamlscalar import ScalarCodec, ScalarWriter, looks_typed
from preflight.text import Decoded, Place, Span, Text

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEPTH = 200
SYNTAX = "CFG001"


class Scalar:
    """`uses`: by how many paths it is reached (more than once through an alias)."""

    __slots__ = ("end", "flow", "indent", "start", "style", "tree", "uses", "value")

    def __init__(self, tree: Tree, value: str, style: str | None, start: int, end: int, flow: bool) -> None:
        self.tree = tree
        self.value = value
        self.style = style
        self.start = start
        self.end = end
        self.flow = flow
        self.uses = 1

    @property
    def plain(self) -> bool:
        return self.style is None

    @property
    def place(self) -> Place:
        return self.tree.text.place_of(self.start, self.end)

    @property
    def text(self) -> Text:
        """The scalar as text of the document, with its quoting as a layer."""
        raw = self.tree.text.value[self.start : self.end]
        if not raw:
            return whole_text(self.tree.text, self.start, self.end, self.value)
        flow, typed = self.flow, self.plain and looks_typed(self.value)
        for indent in self._indents(raw):
            lines = raw.endswith(("\n", "\r"))
            codec = ScalarWriter(ScalarCodec(indent, flow=flow, text=not typed, ends_line=lines), self.style)
            text = self.tree.text.inner(self.start, self.end, codec)
            if text is not None and text.value == self.value:
                return text
        return whole_text(self.tree.text, self.start, self.end, self.value)

    def _indents(self, raw: str) -> Iterator[int]:
        if self.style not in ("|", ">"):
            yield 0
            return
        lines = raw.split("\n")[1:]
        first = next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), 0)
        yield first
        if any(character.isdigit() for character in raw.split("\n", 1)[0]):
            yield from range(1, first)


class Sequence:
    __slots__ = ("end", "flow", "items", "start", "tree", "uses")

    def __init__(self, tree: Tree, start: int, flow: bool) -> None:
        self.tree = tree
        self.items: list[Node] = []
        self.start = start
        self.end = start
        self.flow = flow
        self.uses = 1

    @property
    def place(self) -> Place:
        return self.tree.text.place_of(self.start, self.end)


class Mapping:
    __slots__ = ("end", "flow", "pairs", "start", "tree", "uses")

    def __init__(self, tree: Tree, start: int, flow: bool) -> None:
        self.tree = tree
        self.pairs: list[tuple[Scalar, Node]] = []
        self.start = start
        self.end = start
        self.flow = flow
        self.uses = 1

    @property
    def place(self) -> Place:
        return self.tree.text.place_of(self.start, self.end)

    def get(self, name: str) -> Node | None:
        """The value of a key, own before merged (`<<`), the last of several."""
        found: Node | None = None
        for key, value in self.pairs:
            if key.value == name:
                found = value
        if found is not None:
            return found
        for key, value in self.pairs:
            if key.value == "<<" and key.plain:
                for source in value.items if isinstance(value, Sequence) else [value]:
                    if isinstance(source, Mapping) and source is not self:
                        for inner, node in source.pairs:
                            if inner.value == name:
                                return node
        return None

    def entries(self) -> Iterator[tuple[Scalar, Node]]:
        """Own and merged pairs, own first; one level of merging."""
        seen = set()
        for key, value in self.pairs:
            if not (key.value == "<<" and key.plain):
                seen.add(key.value)
                yield key, value
        for key, value in self.pairs:
            if key.value == "<<" and key.plain:
                for source in value.items if isinstance(value, Sequence) else [value]:
                    if isinstance(source, Mapping) and source is not self:
                        for inner, node in source.pairs:
                            if inner.value not in seen and inner.value != "<<":
                                seen.add(inner.value)
                                yield inner, node


Node = Scalar | Sequence | Mapping


class Tree:
    """The documents of one YAML text, and the error that ended it."""

    __slots__ = ("broken_at", "documents", "problem", "text")

    def __init__(self, text: Text) -> None:
        self.text = text
        self.documents: list[Node] = []
        self.problem: Problem | None = None
        self.broken_at = len(text.value)
        self._load()

    def _load(self) -> None:
        builder = _Builder(self)
        try:
            for event in yaml.parse(self.text.value, Loader=_Loader):
                if not builder.take(event):
                    break
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = min(mark.index if mark else 0, len(self.text.value))
            self.problem = self._syntax(at, error.problem or "cannot be read")
        except (yaml.YAMLError, UnicodeError, ValueError) as error:
            at = min(int(getattr(error, "position", 0) or 0), len(self.text.value))
            self.problem = self._syntax(at, str(getattr(error, "reason", "") or "it holds a character that YAML does not allow"))
        builder.finish()

    def _syntax(self, at: int, why: str) -> Problem:
        self.broken_at = at
        end = at + 1 if at < len(self.text.value) and self.text.value[at] not in "\r\n" else at
        message = f"This is not YAML: {why}. Nothing after this place is read."
        return Problem(SYNTAX, Finding(message, self.text.place_of(at, end)))


class _Builder:
    """Nodes from events, without recursion."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.stack: list[tuple[Sequence | Mapping, list[Node]]] = []
        self.anchors: dict[str, Node] = {}
        self.ends = len(tree.text.value)

    def take(self, event: Any) -> bool:
        """False where it nests deeper than any file that people write."""
        if isinstance(event, yaml.ScalarEvent):
            style = event.style or None
            flow = bool(self.stack) and self.stack[-1][0].flow
            self.add(self._anchored(event, Scalar(self.tree, event.value, style, *_marks(event), flow)))
        elif isinstance(event, yaml.AliasEvent):
            node = self.anchors.get(event.anchor or "")
            if node is not None:
                node.uses += 1
                self.add(node)
            else:
                self.add(Scalar(self.tree, "", None, *_marks(event), False))
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(self.stack) >= _DEPTH:
                return False
            kind = Sequence if isinstance(event, yaml.SequenceStartEvent) else Mapping
            node = kind(self.tree, _marks(event)[0], bool(event.flow_style))
            self._anchored(event, node)
            self.stack.append((node, []))
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            self.close(_marks(event)[1])
        elif isinstance(event, yaml.DocumentStartEvent):
            self.anchors = {}
        return True

    def _anchored(self, event: Any, node: Node) -> Node:
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def add(self, node: Node) -> None:
        if self.stack:
            self.stack[-1][1].append(node)
        else:
            self.tree.documents.append(node)

    def close(self, end: int) -> None:
        node, children = self.stack.pop()
        node.end = max([end if node.flow else node.start, *(child.end for child in children if child.end <= end)])
        if isinstance(node, Sequence):
            node.items = children
        else:
            for index in range(0, len(children) - 1, 2):
                key = children[index]
                if isinstance(key, Scalar):
                    node.pairs.append((key, children[index + 1]))
        self.add(node)

    def finish(self) -> None:
        while self.stack:
            self.close(self.ends)


def _marks(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


class _Whole:
    """The layer of a value that has no places inside it."""

    def decode(self, raw: str) -> Decoded | None:
        return None

    def encode(self, fragment: str) -> str | None:
        return None


def whole_text(parent: Text, start: int, end: int, value: str) -> Text:
    """`value` as a text that stands for all of `start:end` and cannot be edited."""
    size = end - start
    return Text(parent, Span(start, end), _Whole(), Decoded(value, 0, [0] * len(value) + [size], [size] * len(value)))
