"""Adding flags to a launch file and taking them out, in the file's own form.

Every edit is read again by tomli before it is offered: the file has to say what was meant, and nothing else differently.
"""

import re
from collections.abc import Sequence

import tomli

from preflight.launch import Token
from preflight.readers.toml import Toml
from preflight.readers.toml_scan import PAIR, Item
from preflight.readers.toml_text import NUMBER_TEXT, flag_of, key_spelling, number_value, quoted
from preflight.records import NamedTuple
from preflight.text import Edit, Span, apply_edits


class Entry(NamedTuple):
    """One key of [flags] and the words it stands for. `own`: it belongs to this launch, not to the defaults above it."""

    flag: str
    item: Item
    own: bool
    tokens: tuple[Token, ...]


class LaunchEditor:
    """The editor of one launch, whose tables are in `launch` (the file, or one [[launch]])."""

    def __init__(self, toml: Toml, launch: Item, entries: tuple[Entry, ...], off: dict[str, Item]) -> None:
        self.toml = toml
        self.launch = launch
        self.entries = entries
        self.off = off
        """Flags that are written with the value false: no words, but the key is taken."""

    def insert(self, flag: str, values: Sequence[str]) -> Edit | None:
        value = toml_value(values)
        written = next((entry for entry in self.entries if entry.own and entry.flag == flag), None)
        if written is not None:
            if written.item.value is not False or not written.item.exact:
                return None
            edit = Edit(self.toml.document.path, written.item.place.span, value)
            return self._checked(edit, written.item.key.value if written.item.key else "", value)
        name = flag.removeprefix("--")
        own = [entry.item.key.raw for entry in self.entries if entry.item.key is not None]
        if any("_" in key for key in own) and not any("-" in key for key in own):
            name = name.replace("-", "_")
        place = self._place(f"{key_spelling(name)} = {value}")
        return None if place is None else self._checked(place, name, value)

    def delete(self, first: int, last: int) -> Edit | None:
        """One whole flag at a time: the tokens of several keys are no one edit. Not one that hides a flag shared by all
        launches, which would then apply."""
        at = 0
        for entry in self.entries:
            if at == first and last == at + len(entry.tokens) - 1 and entry.tokens:
                if entry.tokens[0].source is None or entry.item.key is None or self._hides(entry):
                    return None
                edit = self._taken_out(entry.item)
                return None if edit is None else self._checked(edit, entry.item.key.value, None, own=entry.own)
            at += len(entry.tokens)
        return None

    def _hides(self, entry: Entry) -> bool:
        if not entry.own or self.launch is self.toml.root:
            return False
        shared = (self.toml.root.entries or {}).get("flags")
        return shared is not None and any(flag_of(name) == entry.flag for name in shared.entries or {})

    def _taken_out(self, item: Item) -> Edit | None:
        document, key = self.toml.document, item.key
        if key is None or (item.statement < 0 and not self._flags_are_inline()):
            return None
        if item.statement < 0:
            return self._inline_entry_out(item)
        statement = self.toml.statements[item.statement]
        if statement.kind != PAIR or statement.item is not item:
            return None
        text = document.text
        start = text.rfind("\n", 0, statement.start) + 1
        line_end = text.find("\n", statement.end)
        behind = text[statement.end : line_end if line_end >= 0 else len(text)]
        comment = behind.lstrip(" \t")
        if comment.startswith("#"):  # the comment stays
            return Edit(document.path, Span(statement.start, statement.end + len(behind) - len(comment)), "")
        return Edit(document.path, Span(start, line_end + 1 if line_end >= 0 else len(text)), "")

    def _flags_are_inline(self) -> bool:
        flags = (self.launch.entries or {}).get("flags")
        return flags is not None and flags.inline and flags.exact

    def _inline_entry_out(self, item: Item) -> Edit | None:
        """The entry and one comma: the one behind it, or before the last entry the one before it."""
        assert item.key is not None
        text = self.toml.document.text
        start, end = item.key.span.start, item.place.span.end
        behind = re.compile(r"[ \t]*,[ \t]*").match(text, end)
        if behind is not None:
            end = behind.end()
        else:
            before = re.search(r"[ \t]*,[ \t]*\Z", text[:start])
            start = before.start() if before is not None else start
        return Edit(self.toml.document.path, Span(start, end), "")

    def _place(self, pair: str) -> Edit | None:
        """Where a pair goes: behind the last flag of this launch; where it has none, below their header or in a new one."""
        flags = (self.launch.entries or {}).get("flags")
        if flags is None:
            return self._new_table(pair)
        if flags.inline:
            return self._into_inline(flags, pair)
        last = self._last_pair(flags)
        if last is None:
            if flags.statement < 0 or self.toml.statements[flags.statement].kind == PAIR:
                return None
            return self._new_line(self.toml.statements[flags.statement].end, pair, self._indent(flags))
        statement = self.toml.statements[last]
        prefix = ".".join(key.raw for key in statement.keys[:-1])
        return self._new_line(statement.end, f"{prefix}.{pair}" if prefix else pair, self._before(statement.start))

    def _last_pair(self, flags: Item) -> int | None:
        entries = (flags.entries or {}).values()
        found = [
            item.statement
            for item in entries
            if item.statement >= 0
            and self.toml.statements[item.statement].kind == PAIR
            and self.toml.statements[item.statement].item is item
        ]
        return max(found, default=None)

    def _before(self, offset: int) -> str:
        """The blanks that a line has before `offset`."""
        text = self.toml.document.text
        start = text.rfind("\n", 0, offset) + 1
        return text[start:offset] if not text[start:offset].strip() else ""

    def _indent(self, flags: Item) -> str:
        return self._before(self.toml.statements[flags.statement].start)

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.toml.document.text else "\n"

    def _new_line(self, offset: int, line: str, indent: str) -> Edit:
        """A line of its own below the one on which `offset` is."""
        text = self.toml.document.text
        end = text.find("\n", offset)
        if end < 0:
            return Edit(self.toml.document.path, Span(len(text), len(text)), self._newline + indent + line)
        return Edit(self.toml.document.path, Span(end + 1, end + 1), indent + line + self._newline)

    def _into_inline(self, flags: Item, pair: str) -> Edit | None:
        if not flags.exact:
            return None
        path, text = self.toml.document.path, self.toml.document.text
        start, end = flags.place.span
        if not text[start + 1 : end - 1].strip():
            return Edit(path, Span(start, end), "{ " + pair + " }")
        at = start + len(text[start : end - 1].rstrip())
        return Edit(path, Span(at, at), f" {pair}" if text[at - 1] == "," else f", {pair}")

    def _new_table(self, pair: str) -> Edit | None:
        text, path, newline = self.toml.document.text, self.toml.document.path, self._newline
        if self.launch.inline:
            return self._into_inline(self.launch, "flags = { " + pair + " }")
        if self.launch is self.toml.root:
            header, at = "[flags]", len(text)
        else:
            statement = self.toml.statements[self.launch.statement]
            keys = ".".join(key.raw for key in statement.keys)
            end = text.find("\n", self._end_of_launch())
            header, at = f"[{keys}.flags]", len(text) if end < 0 else end + 1
        lead = "" if at == 0 else newline if text[at - 1] == "\n" else newline * 2
        if text[:at].endswith(("\n\n", "\n\r\n")):
            lead = ""
        tail = "" if at == len(text) or text[at] in "\r\n" else newline
        return Edit(path, Span(at, at), f"{lead}{header}{newline}{pair}{newline}{tail}")

    def _end_of_launch(self) -> int:
        """The end of what stands directly under the header of this [[launch]]: tables inside it may come before others."""
        own = self.launch.statement
        end = self.toml.statements[own].end
        for statement in self.toml.statements[own + 1 :]:
            if statement.kind != PAIR:
                break
            end = statement.end
        return end

    def _checked(self, edit: Edit, name: str, value: str | None, *, own: bool = True) -> Edit | None:
        """The edit, where the file then differs in `name` alone; without `value`: where that is gone."""
        text = apply_edits(self.toml.document.text, [edit])
        try:
            after = tomli.loads(text)
            before = tomli.loads(self.toml.document.text)
            wanted = None if value is None else tomli.loads(f"x = {value}")["x"]
        except (ValueError, RecursionError):
            return None
        for data in (before, after):
            flags = self._flags_of(data, own)
            if flags is None:
                return None
            flags.pop(name, None)
            if not flags:
                self._launch_of(data, own).pop("flags", None)
        got = tomli.loads(text)
        there = (self._flags_of(got, own) or {}).get(name)
        same = repr(before) == repr(after)  # NaN is equal to nothing, but is written the same
        return edit if same and repr(there) == repr(wanted) else None

    def _launch_of(self, data: dict[str, object], own: bool) -> dict[str, object]:
        launches = (self.toml.root.entries or {}).get("launch")
        if self.launch is self.toml.root or launches is None or not own:
            return data
        index = next(i for i, one in enumerate(launches.elements or ()) if one is self.launch)
        found = data["launch"]
        assert isinstance(found, list)
        table = found[index]
        assert isinstance(table, dict)
        return table

    def _flags_of(self, data: dict[str, object], own: bool) -> dict[str, object] | None:
        flags = self._launch_of(data, own).setdefault("flags", {})
        return flags if isinstance(flags, dict) else None


def toml_value(values: Sequence[str]) -> str:
    """The values of a flag as TOML: none is true, several are an array, numbers go bare."""
    if not values:
        return "true"
    if len(values) == 1:
        return _scalar(values[0])
    return "[" + ", ".join(_scalar(value) for value in values) + "]"


def _scalar(value: str) -> str:
    if NUMBER_TEXT.match(value) and number_value(value) == value:
        return value
    if '"' in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return quoted(value)
