"""The layers of shell quoting: a raw word and the text that it stands for, in both directions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preflight.readers.shellwords import TEXT, Part, Word, double_end, scan_word
from preflight.text import Decoded

_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def assemble(parts: Sequence[Part], raw: str, content_end: int) -> Decoded:
    """Parts of `raw` as decoded text; what is no text stays as written."""
    values: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for part in parts:
        value = part.value if part.kind == TEXT else raw[part.start : part.end]
        values.append(value)
        if len(value) == part.end - part.start:
            starts.extend(range(part.start, part.end))
            ends.extend(range(part.start + 1, part.end + 1))
        elif value:
            starts.append(part.start)
            ends.append(part.end)
    starts.append(content_end)
    return Decoded("".join(values), 0, starts, ends)


BARE, SINGLE, DOUBLE, MIXED = "bare", "single", "double", "mixed"


def quoting_of(raw: str) -> str:
    """Which quotes enclose a whole word."""
    if raw[:1] == "'" and raw.find("'", 1) == len(raw) - 1:
        return SINGLE
    if raw[:1] == '"' and double_end(raw, 1, len(raw)) == len(raw) - 1:
        return DOUBLE
    if raw[:2] == "$'" or any(quote in raw for quote in "'\""):
        return MIXED
    return BARE


def quote(word: str) -> str:
    """A spelling that every shell reads as `word`."""
    if _SAFE.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


class WordCodec:
    """One literal word. `quoting` says how the word at hand is quoted, so that a new text stays inside its quotes."""

    def __init__(self, quoting: str, *, plain: bool = False) -> None:
        self.quoting = quoting
        self.plain = plain

    def decode(self, raw: str) -> Decoded | None:
        word = scan_word(raw, 0, len(raw), plain=self.plain)
        if word.end != len(raw) or any(part.kind != TEXT for part in word.parts):
            return None
        return assemble(word.parts, raw, _content_end(word, raw))

    def encode(self, fragment: str) -> str | None:
        if _SAFE.fullmatch(fragment):
            return fragment
        if self.quoting == SINGLE:
            return None if "'" in fragment else fragment
        if self.quoting == DOUBLE:
            return re.sub(r'["\\]' if self.plain else r'["\\$`]', r"\\\g<0>", fragment)
        return quote(fragment) if self.quoting == BARE else None


class ScriptCodec(WordCodec):
    """A word that holds a script: its quotes are undone, its expansions stay as written, for the script's own reading."""

    def decode(self, raw: str) -> Decoded | None:
        word = scan_word(raw, 0, len(raw), plain=self.plain)
        return assemble(word.parts, raw, _content_end(word, raw)) if word.end == len(raw) else None


_BRACE_SPECIAL = re.compile(r"[\"'\\$`{}\s]")


class BraceCodec:
    """The plain default of `${NAME:-default}`."""

    def decode(self, raw: str) -> Decoded | None:
        return None if _BRACE_SPECIAL.search(raw) else Decoded(raw)

    def encode(self, fragment: str) -> str | None:
        return None if _BRACE_SPECIAL.search(fragment) else fragment


def _content_end(word: Word, raw: str) -> int:
    """Where content would be added at the end: inside the closing quote, if there is one."""
    if not word.parts:
        return 0
    return word.parts[-1].end
