"""Where a report goes: whether it is coloured, and writing it whatever the stream's encoding."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

from preflight.text import Document


def use_color(flag: str, environ: Mapping[str, str], *, isatty: bool) -> bool:
    """`flag` is `always`, `never` or `auto`: then NO_COLOR and FORCE_COLOR (where not empty) decide, then the terminal."""
    if flag != "auto":
        return flag == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return isatty and environ.get("TERM") != "dumb"


def width_of(stream: TextIO, environ: Mapping[str, str]) -> int:
    """Columns of a terminal (COLUMNS wins); 100 for what is none."""
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 100
    except (OSError, ValueError):
        return 100


def write(stream: TextIO, text: str) -> None:
    """Write `text`; characters that the stream's encoding lacks are shown by their number."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(text)


def write_document(stream: TextIO, document: Document) -> None:
    """Write a document as its bytes are, where the stream has a binary one beneath it: line ends and mark stay."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(document.text)
        return
    stream.flush()
    buffer.write(document.to_bytes())
    buffer.flush()


def save(path: str, text: str) -> None:
    """Write a report to a file, as UTF-8 whatever the system's encoding. Raises OSError."""
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(text)
