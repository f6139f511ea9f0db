"""Putting figures into the [observed] table of a launch file: comments and layout stay, and the file is read again before
it is believed."""

from __future__ import annotations

from collections.abc import Sequence

import tomli

from preflight.calibrate.figures import Entry
from preflight.launch import LaunchSite
from preflight.readers.launch_edit import LaunchEditor
from preflight.readers.toml_scan import PAIR, Item
from preflight.text import Document, Edit, Span, apply_edits


def with_observed(site: LaunchSite, entries: Sequence[Entry]) -> Document | None:
    """The document with the figures in the launch's own [observed] table; None where that cannot be done in place."""
    editor = site.editor
    if not isinstance(editor, LaunchEditor) or not entries:
        return None
    document = site.document
    table = (editor.launch.entries or {}).get("observed")
    known = {} if table is None else (table.entries or {})
    edits = [
        Edit(document.path, known[entry.key].place.span, entry.value)
        for entry in entries
        if entry.key in known and known[entry.key].exact
    ]
    new = [entry for entry in entries if entry.key not in known]
    if len(edits) + len(new) != len(entries):
        return None
    if new:
        added = _added(editor, table, new)
        if added is None:
            return None
        edits.append(added)
    changed = Document(document.path, apply_edits(document.text, edits), bom=document.bom)
    return changed if _says(changed.text, document.text, editor, entries) else None


def _added(editor: LaunchEditor, table: Item | None, new: Sequence[Entry]) -> Edit | None:
    document = editor.toml.document
    newline = "\r\n" if "\r\n" in document.text else "\n"
    pairs = [f"{entry.key} = {entry.value}" for entry in new]
    if table is not None and table.inline:
        at = table.place.span.end - 1
        body = document.text[table.place.span.start + 1 : at]
        start = table.place.span.start + 1 + len(body.rstrip())
        lead = " " if not body.strip() or body.rstrip().endswith(",") else ", "
        return Edit(document.path, Span(start, at), f"{lead}{', '.join(pairs)} ")
    statements = editor.toml.statements
    if table is not None:
        inside = [
            item.statement
            for item in (table.entries or {}).values()
            if item.statement >= 0 and statements[item.statement].kind == PAIR and statements[item.statement].item is item
        ]
        last = max(inside, default=table.statement)
        if last < 0:
            return None
        prefix = ".".join(key.raw for key in statements[last].keys[:-1]) if inside else ""
        lines = [f"{prefix}.{pair}" if prefix else pair for pair in pairs]
        return _below(document, statements[last].end, newline, lines)
    if editor.launch.inline:
        return None
    if editor.launch is editor.toml.root:
        first = next((one for one in statements if one.kind != PAIR and one.keys[0].value == "launch"), None)
        lines = ["[observed]", *pairs]
        if first is None:
            return _below(document, len(document.text.rstrip()), newline, ["", *lines])
        return Edit(document.path, Span(first.start, first.start), newline.join([*lines, "", ""]))
    keys = ".".join(key.raw for key in statements[editor.launch.statement].keys)
    own = editor.launch.statement
    end = statements[own].end
    for statement in statements[own + 1 :]:
        if statement.kind != PAIR and [key.value for key in statement.keys][: len(statements[own].keys)] != [
            key.value for key in statements[own].keys
        ]:
            break
        if statement.kind != PAIR and len(statement.keys) == len(statements[own].keys):
            break
        end = statement.end
    return _below(document, end, newline, ["", f"[{keys}.observed]", *pairs])


def _below(document: Document, offset: int, newline: str, lines: Sequence[str]) -> Edit:
    """Lines of their own below the one on which `offset` is."""
    end = document.text.find("\n", offset)
    text = newline.join(lines)
    if end < 0:
        size = len(document.text)
        return Edit(document.path, Span(size, size), newline + text + newline)
    return Edit(document.path, Span(end + 1, end + 1), text + newline)


def _says(text: str, before: str, editor: LaunchEditor, entries: Sequence[Entry]) -> bool:
    """Whether the file now says the figures, and nothing else differently."""
    try:
        old, new = tomli.loads(before), tomli.loads(text)
    except (ValueError, RecursionError):
        return False
    tables = []
    for data in (old, new):
        owner = _owner(data, editor)
        table = owner.pop("observed", {})
        tables.append(table if isinstance(table, dict) else {})
    wanted = {**tables[0], **{entry.key: tomli.loads(f"x = {entry.value}")["x"] for entry in entries}}
    return repr(old) == repr(new) and bool(tables[1] == wanted)


def _owner(data: dict[str, object], editor: LaunchEditor) -> dict[str, object]:
    launches = (editor.toml.root.entries or {}).get("launch")
    if editor.launch is editor.toml.root or launches is None:
        return data
    index = next(number for number, one in enumerate(launches.elements or ()) if one is editor.launch)
    found = data["launch"]
    assert isinstance(found, list)
    table = found[index]
    assert isinstance(table, dict)
    return table
