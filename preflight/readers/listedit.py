"""Flags added to and taken from YAML and JSON lists and mappings, in the style of the items that are there."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence as Words

from preflight.readers.yamlscalar import escaped, plain_or_quoted
from preflight.readers.yamltree import Mapping, Node, Scalar, Sequence
from preflight.text import Edit, Text

_DASH = re.compile(r"[ \t]*-[ \t]+\Z")
_KEY_INDENT = re.compile(r"[ ]*\Z")


def style_of(node: Node) -> str | None:
    return node.style if isinstance(node, Scalar) else None


def spell(word: str, style: str | None, *, flow: bool) -> str:
    if style == '"':
        return '"' + escaped(word) + '"'
    if style == "'" and "\n" not in word:
        return "'" + word.replace("'", "''") + "'"
    return plain_or_quoted(word, flow=flow)


def joins(items: Words[Node]) -> bool:
    """Whether the list writes `--flag=value` as one item."""
    flags = [item.value for item in items if isinstance(item, Scalar) and item.value.startswith("--")]
    return sum("=" in flag for flag in flags) * 2 > len(flags)


class BlockList:
    """Items after dashes, each on lines of its own."""

    __slots__ = ("node", "text")

    def __init__(self, node: Sequence) -> None:
        self.node = node
        self.text = node.tree.text

    def _line_end(self, node: Node) -> int:
        value = self.text.value
        start = node.end - 1 if node.end > node.start and value[node.end - 1] == "\n" else node.end
        found = value.find("\n", start)
        return len(value) if found < 0 else found

    def _dash(self, node: Node) -> int | None:
        """Where the line of an item starts, if nothing but its dash stands before it."""
        value = self.text.value
        line = value.rfind("\n", 0, node.start) + 1
        return line if _DASH.match(value[line : node.start]) else None

    def insert(self, after: int, words: Words[str]) -> Edit | None:
        item = self.node.items[after]
        line = self._dash(item)
        if line is None or item.uses > 1:
            return None
        value = self.text.value
        prefix = value[line : item.start]
        style = style_of(item) if style_of(item) in (None, "'", '"') else None
        spelled = ["=".join(words)] if len(words) == 2 and joins(self.node.items) else list(words)
        end = self._line_end(item)
        line_break = "\n"
        if value[end - 1 : end] == "\r":
            end, line_break = end - 1, "\r\n"
        added = "".join(line_break + prefix + spell(word, style, flow=False) for word in spelled)
        return self.text.replace(end, end, added)

    def delete(self, first: int, last: int) -> Edit | None:
        items = self.node.items
        if first == 0 and last == len(items) - 1:
            return None
        start = self._dash(items[first])
        if start is None or any(self._dash(item) is None or item.uses > 1 for item in items[first : last + 1]):
            return None
        value = self.text.value
        end = self._line_end(items[last])
        if any(line.lstrip().startswith("#") for line in value[start:end].split("\n")):
            return None
        if end < len(value):
            return self.text.replace(start, end + 1, "")
        return self.text.replace(max(start - 1, 0), end, "")


class FlowList:
    """`[a, b]`, in YAML, or in JSON where `json_only`."""

    __slots__ = ("json_only", "ranges", "styles", "text")

    def __init__(self, text: Text, ranges: Words[tuple[int, int]], styles: Words[str | None], *, json_only: bool = False) -> None:
        self.text = text
        self.ranges = ranges
        self.styles = styles
        self.json_only = json_only

    def _separator(self, after: int) -> str:
        if after == 0:
            return ", "
        gap = self.text.value[self.ranges[after - 1][1] : self.ranges[after][0]]
        return gap if re.fullmatch(r"[ \t]*,\s*", gap) else ", "

    def insert(self, after: int, words: Words[str]) -> Edit | None:
        end = self.ranges[after][1]
        spelled = [json.dumps(word) if self.json_only else spell(word, self.styles[after], flow=True) for word in words]
        separator = self._separator(after)
        return self.text.replace(end, end, "".join(separator + word for word in spelled))

    def delete(self, first: int, last: int) -> Edit | None:
        if first > 0:
            return self.text.replace(self.ranges[first - 1][1], self.ranges[last][1], "")
        if last + 1 < len(self.ranges):
            return self.text.replace(self.ranges[first][0], self.ranges[last + 1][0], "")
        return self.text.replace(self.ranges[first][0], self.ranges[last][1], "")


def list_container(node: Sequence) -> BlockList | FlowList:
    if not node.flow:
        return BlockList(node)
    ranges = [(item.start, item.end) for item in node.items]
    return FlowList(node.tree.text, ranges, [style_of(item) for item in node.items])


class MapLines:
    """A flag map: one `key: value` a line. Word numbers are those of its pairs."""

    __slots__ = ("node", "text")

    def __init__(self, node: Mapping) -> None:
        self.node = node
        self.text = node.tree.text

    def _line(self, number: int) -> tuple[int, int] | None:
        """The lines of a pair, if nothing else stands on them."""
        key, value = self.node.pairs[number]
        text = self.text.value
        start = text.rfind("\n", 0, key.start) + 1
        if not _KEY_INDENT.match(text[start : key.start]):
            return None
        end = max(key.end, value.end)
        stop = text.find("\n", end - 1 if text[end - 1 : end] == "\n" else end)
        return start, len(text) if stop < 0 else stop

    def insert(self, after: int, words: Words[str]) -> Edit | None:
        lines = self._line(after)
        if self.node.flow or lines is None or not words[0].startswith("--"):
            return None
        key, _value = self.node.pairs[after]
        name, equals, value = words[0][2:].partition("=")
        values = [value] if equals else list(words[1:])
        text = self.text.value
        indent = text[lines[0] : key.start]
        if not values:
            spelled = "true"
        elif len(values) == 1:
            spelled = number_or_text(values[0])
        else:
            spelled = "[" + ", ".join(number_or_text(item, flow=True) for item in values) + "]"
        end = lines[1]
        line_break = "\n"
        if text[end - 1 : end] == "\r":
            end, line_break = end - 1, "\r\n"
        return self.text.replace(end, end, f"{line_break}{indent}{name}: {spelled}")

    def delete(self, first: int, last: int) -> Edit | None:
        start, end = self._line(first), self._line(last)
        if self.node.flow or start is None or end is None or (first == 0 and last == len(self.node.pairs) - 1):
            return None
        text = self.text.value
        if end[1] < len(text):
            return self.text.replace(start[0], end[1] + 1, "")
        return self.text.replace(max(start[0] - 1, 0), end[1], "")


_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?\Z")


def number_or_text(word: str, *, flow: bool = False) -> str:
    return word if _NUMBER.match(word) else plain_or_quoted(word, flow=flow)
