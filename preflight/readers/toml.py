"""TOML with places: tomli says what a file means, tree-sitter-toml where it says so.

The grammar is TOML 1.0 and recovers from what it does not know; tomli may accept more (1.1). So nothing that the grammar
sees is believed before tomli has read the same: where the two differ, a value is placed on the line of its key.
"""

import tomli

from preflight.diagnostics import Problem
from preflight.readers.toml_scan import ARRAY, PAIR, TABLE, Item, Scan, Statement, descend, put
from preflight.readers.toml_text import fixed
from preflight.records import NamedTuple
from preflight.text import Document, Place, Span


class Toml(NamedTuple):
    document: Document
    data: dict[str, object]
    root: Item
    statements: tuple[Statement, ...]
    comments: tuple[Span, ...]


def load(document: Document) -> dict[str, object] | Problem:
    """What the file says, or why it says nothing."""
    try:
        return tomli.loads(document.text)
    except (ValueError, RecursionError) as error:
        from preflight.readers.toml_errors import refused

        return refused(document, error)


def locate(document: Document, data: dict[str, object]) -> Toml:
    """The places of all that `data`, as `load` read it from the document, says."""
    scan = Scan(document)
    if scan.failed:
        scan.by_statement()
    root = Item(document.place(0, 0))
    root.entries = {}
    _assemble(root, scan, document)
    _reconcile(root, data, document)
    return Toml(document, data, root, tuple(scan.statements), tuple(scan.comments))


def _assemble(root: Item, scan: Scan, document: Document) -> None:
    """Put the statements together, as TOML has it: a header opens a table, pairs go into the open one."""
    table = root
    for index, statement in enumerate(scan.statements):
        data = scan.grafts.get(index)
        if data is not None:
            place = document.place(statement.start, statement.keys[0].span.end)
            table = _graft(root if statement.kind != PAIR else table, data, place, statement.kind, index, table)
            continue
        if statement.kind == PAIR:
            assert statement.item is not None
            statement.item.statement = index
            put(table, statement.keys, statement.item)
            continue
        parent = root
        for key in statement.keys[:-1]:
            parent = descend(parent, key, index)
        last = statement.keys[-1]
        place = document.place(statement.start, statement.end)
        if statement.kind == TABLE:
            table = descend(parent, last, index)
            table.place, table.key, table.statement = place, last, index
            continue
        table = Item(place, last)
        table.entries = {}
        table.statement = index
        _append(parent, last.value, table)


def _append(parent: Item, name: str, table: Item) -> None:
    entries = parent.entries = parent.entries if parent.entries is not None else {}
    array = entries.get(name)
    if array is None or array.elements is None:
        array = entries[name] = Item(table.place, table.key)
        array.elements = []
        array.statement = table.statement
    assert array.elements is not None
    array.elements.append(table)


def _graft(into: Item, data: dict[str, object], place: Place, kind: str, index: int, table: Item) -> Item:
    """Take over what only tomli can read, all on the line of its key. Gives the table that is open after it."""
    for name, value in data.items():
        entries = into.entries = into.entries if into.entries is not None else {}
        if isinstance(value, dict) and name in entries and (entries[name].entries is not None or entries[name].elements):
            inner = entries[name]
            table = _graft(inner.elements[-1] if inner.elements else inner, value, place, kind, index, table)
            continue
        item = _vague(value, place, index)
        if kind == ARRAY and isinstance(value, list):
            element = item.elements[0] if item.elements else item
            element.exact = True
            _append(into, name, element)
            table = element
            continue
        entries[name] = item
        if kind == TABLE:
            table = item
            while table.entries:
                table = next(iter(table.entries.values()))
    return table


def _vague(value: object, place: Place, index: int) -> Item:
    item = Item(place, exact=False)
    item.value, item.statement, item.inline = value, index, True
    if isinstance(value, dict):
        item.entries = {name: _vague(inner, place, index) for name, inner in value.items()}
    elif isinstance(value, list):
        item.elements = [_vague(inner, place, index) for inner in value]
    return item


def _reconcile(item: Item, value: object, document: Document) -> None:
    """Let the truth have the last word: values are tomli's, and a place that reads otherwise becomes its key's line."""
    item.value = value
    if isinstance(value, dict):
        entries, item.elements, item.text = item.entries or {}, None, None
        item.entries = {}
        for name, inner in value.items():
            entry = entries.get(name)
            if entry is None:
                entry = _vague(inner, _line(item.place), item.statement)
            else:
                _reconcile(entry, inner, document)
            item.entries[name] = entry
        if len(entries) != len(item.entries) or item.entries.keys() != entries.keys():
            item.exact = False
    elif isinstance(value, list):
        elements, item.entries, item.text = item.elements or [], None, None
        if len(elements) != len(value):
            item.exact = False
            elements = [_vague(inner, _line(item.key_place), item.statement) for inner in value]
        for element, inner in zip(elements, value, strict=True):
            _reconcile(element, inner, document)
        item.elements = elements
    else:
        item.entries = item.elements = None
        _reconcile_scalar(item, value)


def _reconcile_scalar(item: Item, value: object) -> None:
    text = item.text
    if text is not None:
        if isinstance(value, str):
            if text.value == value and text.raw[:1] in ('"', "'"):
                return
        elif isinstance(value, bool):
            if text.value == ("true" if value else "false"):
                return
        elif not isinstance(value, int) or text.value.lstrip("+") == _decimal(value):
            return
        item.place = _line(item.key_place)
    item.exact = False
    shown = value if isinstance(value, str) else ("true" if value else "false") if isinstance(value, bool) else _decimal(value)
    item.text = fixed(item.place.document, item.place.span, shown)


def _decimal(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # a hexadecimal number of thousands of digits
        return hex(value) if isinstance(value, int) else ""


def _line(place: Place) -> Place:
    """The line on which a place starts, without the blanks around it."""
    text = place.document.text
    start = text.rfind("\n", 0, place.span.start) + 1
    end = text.find("\n", place.span.start)
    line = text[start : end if end >= 0 else len(text)]
    start += len(line) - len(line.lstrip())
    return place.document.place(start, start + len(line.strip()))
