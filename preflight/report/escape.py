"""Text from user files and file names, made safe to print.

Control characters could move the cursor, start an ANSI sequence or forge a second line; direction marks could reorder what is
read; lone surrogates (undecodable file names) cannot be encoded. All are shown by their number.
"""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape_char(char: str) -> str:
    short = _SHORT.get(char)
    if short is not None:
        return short
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def escape(text: str) -> str:
    """`text` on one line, printable characters as they are."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else escape_char(char) for char in text)


def escape_lines(text: str) -> str:
    """The same for a text of several lines: line feeds and tabs stay."""
    return "".join(char if char.isprintable() or char in "\n\t" else escape_char(char) for char in text)
