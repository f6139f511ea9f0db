"""Writing profiles as TOML that people review: tables in order, long lists wrapped."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 110


def toml_text(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """A table as TOML text. None values and empty tables are left out, as TOML has no null."""
    values: list[str] = []
    tables: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append((key, value))
        elif is_tables(value):
            lines = [f"    {toml_value(entry)}," for entry in value]
            values.append("\n".join([f"{toml_key(key)} = [", *lines, "]"]))
        elif value is not None:
            values.append(f"{toml_key(key)} = {toml_value(value, len(toml_key(key)) + 3)}")
    blocks = ["\n".join(values)] if values else []
    for key, value in tables:
        inner = (*path, key)
        body = toml_text(value, inner).rstrip()
        direct = any(not isinstance(entry, Mapping) and entry is not None for entry in value.values())
        if body:
            blocks.append(f"[{dotted(inner)}]\n{body}" if direct else body)
    return "\n\n".join(blocks) + ("\n" if not path else "")


def is_tables(value: Any) -> bool:
    """Whether a value is a list of tables."""
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def dotted(path: Sequence[str]) -> str:
    """A table's full name."""
    return ".".join(toml_key(key) for key in path)


def toml_key(key: str) -> str:
    """A bare key where TOML allows one."""
    bare = key and all(character.isascii() and (character.isalnum() or character in "-_") for character in key)
    return key if bare else toml_value(key)


def toml_value(value: Any, column: int = 0) -> str:
    """A scalar or a list; lists that do not fit the line are wrapped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{toml_key(key)} = {toml_value(entry)}" for key, entry in value.items() if entry is not None) + " }"
        )
    entries = [toml_value(entry) for entry in value if entry is not None]
    line = f"[{', '.join(entries)}]"
    if column + len(line) <= WIDTH:
        return line
    lines, current = [], "   "
    for entry in entries:
        if len(current) + len(entry) + 2 > WIDTH and current.strip():
            lines.append(current)
            current = "   "
        current += f" {entry},"
    return "[\n" + "\n".join([*lines, current]) + "\n]"
