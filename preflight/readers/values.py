"""Values of known keys, checked where they are read: what is wrong is reported and left out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

from preflight.diagnostics import DISPLAY, ERROR, SAFE, UNSAFE, WARNING, Finding, Fix, Problem
from preflight.readers.launch_keys import CAPABILITY, CHOICE, COUNT, QUANTITY, TEXTS, Key, Keys
from preflight.readers.toml_scan import Item
from preflight.readers.toml_text import quoted
from preflight.text import Edit, Located
from preflight.units import GIB, IMPOSSIBLE, NO_UNIT, UNKNOWN_UNIT, BadQuantity, gib, parse_bytes

UNKNOWN_KEY, WRONG_TYPE, BAD_VALUE = "CFG002", "CFG003", "CFG010"
BARE_NUMBER, IMPOSSIBLE_QUANTITY, UNKNOWN_MEMORY_UNIT = "UNT005", "UNT006", "UNT007"

Report = Callable[[Problem], None]

_CAPABILITY = re.compile(r"\d{1,2}\.\d\Z")


_OTHER_WORDS = {
    "gpus": "count",
    "gpu-count": "count",
    "num-gpus": "count",
    "gpus-per-node": "count",
    "num-nodes": "nodes",
    "nnodes": "nodes",
    "vram": "memory",
    "gpu-memory": "memory",
    "ram": "host-memory",
    "link": "interconnect",
    "version": "engine-version",
    "args": "flags",
    "arguments": "flags",
    "environment": "env",
    "draft-model": "draft",
    "machine": "hardware",
}
"""What people call a key. Some of these words resemble another key more than the one they mean."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    from difflib import get_close_matches  # 5 ms, and only where something is wrong

    choices = {one.casefold(): one for one in known}
    folded = name.casefold().replace("_", "-")
    folded = _OTHER_WORDS.get(folded, folded)
    if folded in choices:
        return choices[folded]
    found = get_close_matches(folded, choices, 1, 0.7)
    return choices[found[0]] if found else None


def unknown_key(item: Item, name: str, known: Iterable[str], table: str, beside: Item) -> Problem:
    """`beside`: the table that the key stands in. What it has already is no name that was meant."""
    where = f"a key of [{table}]" if table else "a key of this file"
    meant = nearest(name, [one for one in known if one not in (beside.entries or {})])
    fixes: tuple[Fix, ...] = ()
    if meant is not None and item.key is not None:
        edit = item.key.replace_all(meant)
        if edit is not None:
            fixes = (Fix(f"Rename {name} to {meant}", (edit,), UNSAFE),)
    remedy = f"Use {meant}." if meant else "Remove it, or look up the name that was meant."
    return Problem(UNKNOWN_KEY, Finding(f"{name} is not {where}. {remedy}", item.key_place, WARNING, fixes=fixes))


def wrong_type(item: Item, name: str, takes: str, remedy: str = "", new: str | None = None) -> Problem:
    """`new` is the TOML text that says the same in the right type."""
    fixes: tuple[Fix, ...] = ()
    if new is not None and item.exact:
        fixes = (Fix(f"Write {name} = {new}", (Edit(item.place.path, item.place.span, new),), SAFE),)
        remedy = remedy or f"Write {new}."
    message = f"{name} takes {takes}; here it is {_kind(item)}. {remedy or f'Give it {takes}.'}"
    return Problem(WRONG_TYPE, Finding(message, item.place, ERROR, fixes=fixes))


def _kind(item: Item) -> str:
    value = item.value
    if isinstance(value, bool):
        return "true or false"
    for kind, words in ((str, "a string"), (int, "a whole number"), (float, "a number"), (list, "an array"), (dict, "a table")):
        if isinstance(value, kind):
            return words
    return "a date or time"


def read_table(table: Item, keys: Keys, where: str, report: Report) -> dict[str, Located[object]]:
    """The entries of `table` that are right: memory in bytes (int), one value per rank as a tuple, a compute capability as
    (major, minor)."""
    found: dict[str, Located[object]] = {}
    for name, item in (table.entries or {}).items():
        key = keys.get(name)
        if key is None:
            report(unknown_key(item, name, keys, where, table))
            continue
        value = read_value(item, name, key, report)
        if value is not None:
            found[name] = Located(value, item.place)
    return found


def read_value(item: Item, name: str, key: Key, report: Report) -> object | None:
    """The value, or None after a report."""
    read = _READERS.get(key.kind, _text)
    if item.elements is not None and key.per_rank:
        values = [read(element, name, key, report) for element in item.elements]
        if not values:
            report(wrong_type(item, name, "one value, or one per rank"))
        return None if not values or None in values else tuple(values)
    return read(item, name, key, report)


def _text(item: Item, name: str, key: Key, report: Report) -> object | None:
    if isinstance(item.value, str):
        if item.value.strip():
            return item.value
        report(Problem(BAD_VALUE, Finding(f"{name} is empty. Give it a value, or remove it.", item.place, ERROR)))
        return None
    report(wrong_type(item, name, "a string", new=_as_string(item)))
    return None


def _as_string(item: Item) -> str | None:
    number = isinstance(item.value, (int, float)) and not isinstance(item.value, bool)
    return quoted(item.text.raw) if number and item.text is not None and item.exact else None


def _texts(item: Item, name: str, key: Key, report: Report) -> object | None:
    """A list of strings, each with its place; one string stands for a list of one."""
    found: list[Located[str]] = []
    for element in item.elements if item.elements is not None else [item]:
        value = _text(element, name, key, report)
        if isinstance(value, str):
            found.append(Located(value, element.place))
    return tuple(found)


def _choice(item: Item, name: str, key: Key, report: Report) -> object | None:
    value = _text(item, name, key, report)
    if not isinstance(value, str) or value in key.choices:
        return value
    meant = nearest(value, key.choices)
    fixes: tuple[Fix, ...] = ()
    edit = item.text.replace_all(meant) if meant and item.text is not None else None
    if meant and edit is not None:
        fixes = (Fix(f"Set {name} to {meant}", (edit,), UNSAFE),)
    remedy = f"Use {meant}." if meant else f"Use {_one_of(key.choices)}."
    report(Problem(BAD_VALUE, Finding(f"{name} {value!r} is not known. {remedy}", item.place, ERROR, fixes=fixes)))
    return None


def _one_of(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else ", ".join(choices[:-1]) + " or " + choices[-1]


def _capability(item: Item, name: str, key: Key, report: Report) -> object | None:
    text = item.text.value if isinstance(item.value, (str, float)) and item.text is not None else ""
    if _CAPABILITY.match(text):
        major, minor = text.split(".")
        return int(major), int(minor)
    report(Problem(BAD_VALUE, Finding(f'{name} is two numbers with a dot. Write it as "9.0".', item.place, ERROR)))
    return None


def _count(item: Item, name: str, key: Key, report: Report) -> object | None:
    value = item.value
    if isinstance(value, int) and not isinstance(value, bool):
        if key.least <= value < 1 << 62:
            return value
        fact = f"is less than {key.least}" if value < key.least else "is more than can be"
        report(_impossible(item, f"{name} {fact}. Give the number as it is, or remove the key."))
    elif isinstance(value, float) and not math.isfinite(value):
        report(_impossible(item, f"{name} is not a finite number. Give the number as it is, or remove the key."))
    else:
        text = str(value).replace(",", "").replace("_", "").strip()
        whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
        new = str(int(value)) if isinstance(value, float) and whole else None
        if isinstance(value, str) and text.isascii() and text.isdigit() and len(text) < 18:
            new = str(int(text))
        report(wrong_type(item, name, "a whole number", new=new))
    return None


def _impossible(item: Item, message: str) -> Problem:
    return Problem(IMPOSSIBLE_QUANTITY, Finding(message, item.place, ERROR))


def _quantity(item: Item, name: str, key: Key, report: Report) -> object | None:
    value = item.value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        report(_bare_number(item, name, value))
        return None
    if not isinstance(value, str):
        report(wrong_type(item, name, 'an amount of memory with its unit, such as "94.0 GiB"'))
        return None
    try:
        amount = parse_bytes(value)
    except BadQuantity as error:
        report(_bad_quantity(item, name, error))
        return None
    if amount < key.least:
        report(_impossible(item, f"{name} is 0. Give the amount as it is, or remove the key."))
        return None
    return amount


def _bare_number(item: Item, name: str, value: float) -> Problem:
    if not math.isfinite(value) or value < 0:
        fact = "is negative" if value < 0 and math.isfinite(value) else "is not a finite amount of memory"
        return _impossible(item, f"{name} {fact}. Give the amount as the log or nvidia-smi states it, or remove the key.")
    raw = item.text.value if item.text is not None else "?"
    return _unit_missing(item, name, raw, value)


def _unit_missing(item: Item, name: str, number: str, value: float) -> Problem:
    """No unit is certain: GiB and MiB are offered where the size of the number leaves little doubt."""
    unit = "GiB" if 0 < value < 2048 else "MiB" if 2048 <= value < 4 * GIB else None
    fixes: tuple[Fix, ...] = ()
    if unit is not None and item.exact:
        new = quoted(f"{number} {unit}")
        title = f"Write {name} = {new}, if the figure is in {unit}"
        fixes = (Fix(title, (Edit(item.place.path, item.place.span, new),), UNSAFE if unit == "MiB" else DISPLAY),)
    remedy = f'Write "{number} {unit}" if that is meant; GB is another unit.' if unit else "Write the unit behind it."
    return Problem(BARE_NUMBER, Finding(f"{name} {number} has no unit. {remedy}", item.place, ERROR, fixes=fixes))


def _bad_quantity(item: Item, name: str, error: BadQuantity) -> Problem:
    if error.kind == NO_UNIT:
        number = str(item.value).strip()
        try:
            value = float(number.replace("_", ""))
        except ValueError:
            value = 0.0
        return _unit_missing(item, name, number, value)
    if error.kind == IMPOSSIBLE:
        return _impossible(item, f"{name}: {error}. Give the amount as the log or nvidia-smi states it, or remove the key.")
    if error.kind == UNKNOWN_UNIT:
        message = f"{name}: {error}. Use GiB, MiB, GB or MB; 1 GiB is {GIB:,} bytes, 1 GB is {gib(10**9)}."
        return Problem(UNKNOWN_MEMORY_UNIT, Finding(message, item.place, ERROR))
    return Problem(WRONG_TYPE, Finding(f'{name}: {error}. Write a number and its unit, such as "94.0 GiB".', item.place, ERROR))


_READERS: Mapping[str, Callable[[Item, str, Key, Report], object | None]] = {
    QUANTITY: _quantity,
    COUNT: _count,
    CHOICE: _choice,
    TEXTS: _texts,
    CAPABILITY: _capability,
}
