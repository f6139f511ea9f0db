"""The statements of a TOML file as tree-sitter-toml sees them, and values with their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import tomli

from preflight.readers.toml_text import KEY, NUMBER, fixed, string_codec
from preflight.records import NamedTuple
from preflight.text import VERBATIM, Document, Place, Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

PAIR, TABLE, ARRAY = "pair", "table", "table_array_element"
_CONTAINERS = ("array", "inline_table")
_DEEPEST = 40
"""Containers nested deeper than this are one value, on the place of the outermost."""
_LONGEST = 500
"""Lines of one statement that is looked for by trial."""


class Item:
    """A value with its key and place. A table has `entries`, an array `elements`.

    `exact` is False where only the line of the key is known. `inline` tells `{ … }` and `[ … ]` from what headers and dotted
    keys make. The place of a table made by headers is its first header.
    """

    __slots__ = ("elements", "entries", "exact", "inline", "key", "place", "statement", "text", "value")

    def __init__(self, place: Place, key: Text | None = None, *, exact: bool = True) -> None:
        self.place = place
        self.key = key
        self.exact = exact
        self.inline = False
        self.value: object = None
        self.text: Text | None = None
        self.entries: dict[str, Item] | None = None
        self.elements: list[Item] | None = None
        self.statement = -1

    @property
    def key_place(self) -> Place:
        return self.place if self.key is None else self.key.place


class Statement(NamedTuple):
    """A header, or a key with its value, in the order of the file. `end` is where the value or the header ends."""

    kind: str
    start: int
    end: int
    keys: tuple[Text, ...]
    owner: int
    """The header it stands under, by its index; -1: none."""
    item: Item | None = None
    """The value of a pair; None where only tomli could read the statement."""


class Repeated(NamedTuple):
    """The value of an item whose key was there before: such a file is refused, with both places."""

    first: Text
    second: Text


_parsers: list[Parser] = []


def _parser() -> Parser:
    if not _parsers:
        from preflight.readers.grammar import parser

        _parsers.append(parser("toml"))
    return _parsers[0]


class Scan:
    """The statements of a document as the grammar sees them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.statements: list[Statement] = []
        self.comments: list[Span] = []
        self.grafts: dict[int, dict[str, object]] = {}
        """What tomli reads in a statement that the grammar does not know, by its index."""
        self._owner = -1
        root = self._parse(document.text, 0)
        self.failed = root is None
        if root is not None:
            self._walk(root)

    def _parse(self, text: str, base: int) -> Node | None:
        """The tree of `text`, which starts at `base`; None where the grammar does not accept it."""
        source = text.encode("utf-8", "replace")
        self._base = base
        self._offsets: list[int] | None = None
        if len(source) != len(text):
            self._offsets = offsets = []
            at = -1
            for byte in source:
                at += (byte & 0xC0) != 0x80
                offsets.append(at)
            offsets.append(len(text))
        root = _parser().parse(source).root_node
        return None if root.has_error else root

    def _span(self, node: Node) -> Span:
        start, end = node.start_byte, node.end_byte
        if self._offsets is not None:
            start, end = self._offsets[start], self._offsets[end]
        return Span(start + self._base, end + self._base)

    def _walk(self, root: Node) -> None:
        for node in root.children:
            if node.type == PAIR:
                self._pair_statement(node)
            elif node.type in (TABLE, ARRAY):
                self._header(node)
            elif node.type == "comment":
                self.comments.append(self._span(node))

    def _header(self, node: Node) -> None:
        children = node.children
        start = self._span(children[0]).start
        end = self._span(children[2]).end
        self._owner = len(self.statements)
        self.statements.append(Statement(node.type, start, end, tuple(self._keys(children[1])), -1))
        for child in children[3:]:
            if child.type == PAIR:
                self._pair_statement(child)
            elif child.type == "comment":
                self.comments.append(self._span(child))

    def _pair_statement(self, node: Node) -> None:
        keys, item = self._pair(node, 0)
        self.statements.append(Statement(PAIR, keys[0].span.start, item.place.span.end, tuple(keys), self._owner, item))

    def _pair(self, node: Node, depth: int) -> tuple[list[Text], Item]:
        keys: list[Text] = []
        item: Item | None = None
        for child in node.children:
            if child.type == "comment":
                self.comments.append(self._span(child))
            elif not keys:
                keys = self._keys(child)
            elif child.is_named:
                item = self._item(child, depth)
        assert item is not None
        item.key = keys[-1]
        return keys, item

    def _keys(self, node: Node) -> list[Text]:
        """The parts of a dotted key, which the grammar nests to the left."""
        found: list[Text] = []
        while True:
            part = node
            if node.type == "dotted_key":
                part = node.children[-1]
            span = self._span(part)
            text = Text.of(self.document, span.start, span.end, KEY)
            found.append(text if text is not None else fixed(self.document, span, self.document.text[span.start : span.end]))
            if node.type != "dotted_key":
                return found[::-1]
            node = node.children[0]

    def _item(self, node: Node, depth: int) -> Item:
        span = self._span(node)
        item = Item(Place(self.document, span))
        if node.type not in _CONTAINERS:
            item.text = _scalar(self.document, span, node.type)
            return item
        item.inline = True
        if depth >= _DEEPEST:
            return item
        if node.type == "array":
            item.elements = []
            for child in node.children:
                if child.type == "comment":
                    self.comments.append(self._span(child))
                elif child.is_named:
                    item.elements.append(self._item(child, depth + 1))
            return item
        item.entries = {}
        for child in node.children:
            if child.type == PAIR:
                keys, value = self._pair(child, depth + 1)
                put(item, keys, value)
        return item

    def by_statement(self) -> None:
        """Again, one statement at a time: what tomli reads alone is a statement, so that one which the grammar does not
        know spoils no other."""
        self.statements, self.comments, self._owner = [], [], -1
        document = self.document
        start = 0
        for chunk in _chunks(document.text):
            stripped = chunk.strip()
            base = start + len(chunk) - len(chunk.lstrip())
            start += len(chunk)
            if not stripped:
                continue
            if stripped.startswith("#") and "\n" not in stripped:
                self.comments.append(Span(base, base + len(stripped)))
                continue
            root = self._parse(chunk, start - len(chunk))
            if root is not None:
                self._walk(root)
                continue
            span = Span(base, base + len(stripped.split("\n", 1)[0].rstrip()))
            kind = ARRAY if stripped.startswith("[[") else TABLE if stripped.startswith("[") else PAIR
            if kind != PAIR:
                self._owner = len(self.statements)
            self.grafts[len(self.statements)] = tomli.loads(chunk)
            key = fixed(document, span, document.text[span.start : span.end])
            self.statements.append(Statement(kind, span.start, base + len(stripped), (key,), self._owner if kind == PAIR else -1))


def _chunks(text: str) -> Iterator[str]:
    """`text`, cut into the smallest runs of lines that tomli accepts, each at most one statement."""
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    first = 0
    while first < len(lines):
        for last in range(first + 1, min(len(lines), first + _LONGEST) + 1):
            chunk = "".join(lines[first:last])
            try:
                tomli.loads(chunk)
            except (ValueError, RecursionError):
                continue
            yield chunk
            first = last
            break
        else:
            return


def _scalar(document: Document, span: Span, kind: str) -> Text | None:
    if kind == "string":
        return Text.of(document, span.start, span.end, string_codec(document.text[span.start : span.end]))
    return Text.of(document, span.start, span.end, NUMBER if kind in ("integer", "float") else VERBATIM)


def put(table: Item, keys: list[Text] | tuple[Text, ...], item: Item) -> None:
    """Place `item` in `table` under dotted `keys`; what tomli does not confirm falls away later."""
    for key in keys[:-1]:
        table = descend(table, key, item.statement)
    if table.entries is None:
        return
    name = keys[-1].value
    before = table.entries.get(name)
    if before is not None and before.key is not None:
        item.value = Repeated(before.key, keys[-1])
    table.entries[name] = item


def descend(table: Item, key: Text, statement: int) -> Item:
    """The table under `key`, made where there is none; of an array of tables the last."""
    if table.entries is None:
        table.entries = {}
    found = table.entries.get(key.value)
    if found is None:
        found = table.entries[key.value] = Item(key.place, key)
        found.entries = {}
        found.statement = statement
    return found.elements[-1] if found.elements else found
