"""Words as a POSIX shell reads them, each piece with its place.

`scan_word` cuts one word into parts: text (quotes and escapes undone), variables, and what only a run can tell (command
substitution, arithmetic, holes that an outer layer left).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from preflight.records import NamedTuple

TEXT, VARIABLE, OTHER = "text", "variable", "other"


class Part(NamedTuple):
    """A piece of a word at `start:end`.

    TEXT: `value` is either character for character the raw text, or at most one character that the raw text stands for.
    VARIABLE: `value` is its name (`@`, `1`, `MODEL`); `subscript`, `operator` and the range of the operator's word follow.
    OTHER: `value` is a name to show, perhaps empty.
    """

    kind: str
    start: int
    end: int
    value: str
    quoted: bool
    subscript: str = ""
    operator: str = ""
    word_start: int = -1
    word_end: int = -1


class Word(NamedTuple):
    start: int
    end: int
    parts: tuple[Part, ...]

    @property
    def literal(self) -> str | None:
        """The word itself, where it has no unknown piece."""
        if any(part.kind != TEXT for part in self.parts):
            return None
        return "".join(part.value for part in self.parts)


class Hole(NamedTuple):
    """A range that an outer layer fills in (compose `${X}`, Kubernetes `$(X)`, a template action): not the shell's to expand.

    Its first character is always `$` or a backtick.
    """

    start: int
    end: int
    name: str


NO_HOLES: Mapping[int, Hole] = {}

STAND_IN, STAND_END = "\ue000", "\ue001"
"""What an outer layer writes in place of a text that it cannot know: STAND_IN, a name to show, STAND_END."""

_BARE = re.compile(r"[^\s\\'\"`$|&;()<>\ue000]+")
_BARE_PLAIN = re.compile(r"[^\s\\'\"$\ue000]+|\$")
_DOUBLE = re.compile(r'[^"\\$`\ue000]+')
_HOLE_START = re.compile(r"[$`\ue000]")
_NAME = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]", re.ASCII)
_SIMPLE_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_OPERATOR = re.compile(r":?[-=?+]|##?|%%?|//?|\^\^?|,,?|@|:")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_ANSI_NUMBER = re.compile(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})")
_CONTINUATION = re.compile(r"\\\r?\n")
_DEPTH = 40


def skip_parentheses(text: str, start: int, end: int) -> int:
    """Past the `)` that closes the `(` at `start`; `end` where none does. Quotes inside are honoured."""
    depth, at = 0, start
    while at < end:
        character = text[at]
        if character == "\\":
            at += 1
        elif character == "'":
            at = _find(text, "'", at + 1, end)
        elif character == '"':
            at = double_end(text, at + 1, end)
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        elif character == "#" and text[at - 1 : at] in (" ", "\t", "\n", ";"):
            at = _find(text, "\n", at, end)
        at += 1
    return end


def skip_braces(text: str, start: int, end: int) -> int:
    """Past the `}` that closes the `{` at `start`."""
    depth, at = 0, start
    while at < end:
        character = text[at]
        if character == "\\":
            at += 1
        elif character == "'":
            closing = text.find("'", at + 1, end)
            at = closing if closing >= 0 else at
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        elif character == "\n" and depth == 1:
            return at
        at += 1
    return end


def _find(text: str, what: str, start: int, end: int) -> int:
    found = text.find(what, start, end)
    return end if found < 0 else found


def double_end(text: str, start: int, end: int) -> int:
    """The place of the `"` that ends a double-quoted text whose content starts at `start`."""
    at = start
    while at < end:
        if text[at] == "\\":
            at += 1
        elif text[at] == '"':
            return at
        at += 1
    return end


def scan_word(text: str, start: int, end: int, holes: Mapping[int, Hole] = NO_HOLES, *, plain: bool = False) -> Word:
    """The word that starts at `start`; `plain` (a compose command string) knows no expansions and no operators."""
    parts: list[Part] = []
    bare = _BARE_PLAIN if plain else _BARE
    at = start
    while at < end:
        character = text[at]
        if (hole := hole_at(text, at, end, holes)) is not None:
            parts.append(Part(OTHER, hole.start, hole.end, hole.name, False))
            at = hole.end
        elif character == "\\":
            at = _escaped(text, at, end, parts)
        elif character == "'":
            at = _single(text, at, end, parts, holes)
        elif character == '"':
            at = _double(text, at + 1, end, parts, holes, plain=plain)
        elif not plain and character in "$`":
            at = _expansion(text, at, end, parts, quoted=False)
        elif not plain and character in "<>" and text[at + 1 : at + 2] == "(":
            closing = skip_parentheses(text, at + 1, end)
            parts.append(Part(OTHER, at, closing, "", False))
            at = closing
        else:
            match = bare.match(text, at, end)
            if match is None:
                break
            parts.append(Part(TEXT, at, match.end(), match.group(), False))
            at = match.end()
    return Word(start, at, tuple(parts))


PLACEHOLDER = re.compile(r"<[A-Za-z][\w.-]*>(?=[\s\\\"']|\Z)")
"""`<model-path>`: for the reader to fill in. A shell would take it for redirections."""


def hole_at(text: str, at: int, end: int, holes: Mapping[int, Hole]) -> Hole | None:
    if text[at] == "<" and (placeholder := PLACEHOLDER.match(text, at, end)) is not None:
        return Hole(at, placeholder.end(), placeholder.group()[1:-1])
    if text[at] == STAND_IN:
        closing = text.find(STAND_END, at, end)
        closing = at if closing < 0 else closing
        return Hole(at, closing + 1, text[at + 1 : closing])
    return holes.get(at) if holes else None


_STAND = re.compile("\ue000([^\ue001]*)\ue001")


def shown(text: str) -> str:
    """A text with its stand-ins as `${name}`."""
    return _STAND.sub(r"${\1}", text)


def _escaped(text: str, at: int, end: int, parts: list[Part]) -> int:
    continuation = _CONTINUATION.match(text, at, end)
    if continuation is not None:
        return continuation.end()
    if at + 1 >= end:
        parts.append(Part(TEXT, at, end, "\\", False))
        return end
    parts.append(Part(TEXT, at, at + 2, text[at + 1], True))
    return at + 2


def _single(text: str, at: int, end: int, parts: list[Part], holes: Mapping[int, Hole]) -> int:
    closing = _find(text, "'", at + 1, end)
    position = at + 1
    for match in _HOLE_START.finditer(text, position, closing):
        hole = hole_at(text, match.start(), closing, holes)
        if hole is not None and hole.start >= position:
            if hole.start > position:
                parts.append(Part(TEXT, position, hole.start, text[position : hole.start], True))
            parts.append(Part(OTHER, hole.start, hole.end, hole.name, True))
            position = hole.end
    parts.append(Part(TEXT, position, closing, text[position:closing], True))
    return min(closing + 1, end)


def _double(text: str, start: int, end: int, parts: list[Part], holes: Mapping[int, Hole], *, plain: bool) -> int:
    at, empty = start, True
    while at < end and text[at] != '"':
        character = text[at]
        if (hole := hole_at(text, at, end, holes)) is not None:
            parts.append(Part(OTHER, hole.start, hole.end, hole.name, True))
            at = hole.end
        elif character == "\\":
            continuation = None if plain else _CONTINUATION.match(text, at, end)
            if continuation is not None:
                at = continuation.end()
                continue
            following = text[at + 1 : at + 2]
            if following and following in ('"\\' if plain else '"\\$`'):
                parts.append(Part(TEXT, at, at + 2, following, True))
                at += 2
            else:
                parts.append(Part(TEXT, at, at + 1, "\\", True))
                at += 1
        elif character in "$`" and not plain:
            at = _expansion(text, at, end, parts, quoted=True)
        else:
            match = _DOUBLE.match(text, at, end)
            stop = match.end() if match else at + 1  # no match: a `$` or a backtick that means nothing here
            parts.append(Part(TEXT, at, stop, text[at:stop], True))
            at = stop
        empty = False
    if empty:
        parts.append(Part(TEXT, at, at, "", True))
    return min(at + 1, end)


def _ansi(text: str, start: int, end: int, parts: list[Part]) -> int:
    """The content of `$'…'` from `start` on."""
    at = start
    parts.append(Part(TEXT, at, at, "", True))
    while at < end and text[at] != "'":
        if text[at] != "\\" or at + 1 >= end:
            parts.append(Part(TEXT, at, at + 1, text[at], True))
            at += 1
            continue
        number = _ANSI_NUMBER.match(text, at + 1, end)
        if number is not None:
            octal = number.group(4)
            code = int(octal, 8) & 255 if octal else int(number.group(1) or number.group(2) or number.group(3), 16)
            parts.append(Part(TEXT, at, number.end(), chr(code) if code < 0x110000 else "�", True))
            at = number.end()
        else:
            parts.append(Part(TEXT, at, at + 2, _ANSI.get(text[at + 1], text[at + 1]), True))
            at += 2
    return min(at + 1, end)


def _expansion(text: str, at: int, end: int, parts: list[Part], *, quoted: bool) -> int:
    """What a `$` or a backtick starts."""
    following = text[at + 1 : at + 2] if at + 1 < end else ""
    if text[at] == "`":
        closing = at + 1
        while closing < end and text[closing] != "`":
            closing += 2 if text[closing] == "\\" else 1
        closing = min(closing + 1, end)
        parts.append(Part(OTHER, at, closing, "", quoted))
        return closing
    if following == "(":
        closing = skip_parentheses(text, at + 1, end)
        parts.append(Part(OTHER, at, closing, "", quoted))
        return closing
    if following == "{":
        closing = skip_braces(text, at + 1, end)
        parts.append(_braced(text, at, closing, quoted))
        return closing
    if following == "'" and not quoted:
        return _ansi(text, at + 2, end, parts)
    if following == '"' and not quoted:
        return _double(text, at + 2, end, parts, NO_HOLES, plain=False)
    name = _SIMPLE_NAME.match(text, at + 1, end)
    if name is None:
        parts.append(Part(TEXT, at, at + 1, "$", quoted))
        return at + 1
    parts.append(Part(VARIABLE, at, name.end(), name.group(), quoted))
    return name.end()


def _braced(text: str, start: int, end: int, quoted: bool) -> Part:
    """`${…}`."""
    inside, closing = start + 2, end - 1
    name = _NAME.match(text, inside, closing)
    if name is None or text[closing] != "}" or (text[inside] in "#!" and name.end() < closing):  # not closed, a length, indirect
        return Part(OTHER, start, end, "", quoted)
    at, subscript = name.end(), ""
    if text[at : at + 1] == "[":
        bracket = text.find("]", at, closing)
        if bracket < 0:
            return Part(OTHER, start, end, "", quoted)
        subscript, at = text[at + 1 : bracket], bracket + 1
    if at == closing:
        return Part(VARIABLE, start, end, name.group(), quoted, subscript)
    operator = _OPERATOR.match(text, at, closing)
    if operator is None:
        return Part(OTHER, start, end, "", quoted)
    return Part(VARIABLE, start, end, name.group(), quoted, subscript, operator.group(), operator.end(), closing)


MOST_WORDS = 5000
"""More than any command line that people write: what follows is not read."""

_EXPANDS = re.compile(r"\\.|[$`]", re.S)


def scan_body(text: str, start: int, end: int) -> list[Part]:
    """The expansions in a text that is quoted as a whole without quotes: the body of a here-document."""
    parts: list[Part] = []
    at = start
    while (match := _EXPANDS.search(text, at, end)) is not None:
        at = match.end()
        if match.group() in "$`":
            at = _expansion(text, match.start(), end, parts, quoted=True)
    return [part for part in parts if part.kind != TEXT]


def split_words(text: str, start: int, end: int, holes: Mapping[int, Hole] = NO_HOLES, *, plain: bool = False) -> list[Word]:
    """The words of `start:end`, without a thought for operators."""
    words: list[Word] = []
    at = start
    while True:
        at = skip_blanks(text, at, end)
        if at >= end:
            return words
        word = scan_word(text, at, end, holes, plain=plain)
        if word.end <= at:  # an operator: not a word, not an end
            at += 1
            continue
        words.append(word)
        if len(words) > MOST_WORDS:
            return words
        at = word.end


_BLANKS = re.compile(r"(?:\s|\\\r?\n)+")


def skip_blanks(text: str, start: int, end: int) -> int:
    match = _BLANKS.match(text, start, end)
    return match.end() if match else start


def scan_inside(text: str, start: int, end: int, *, quoted: bool) -> tuple[Part, ...]:
    """The parts of the word after an operator of `${…}`, blanks included."""
    parts: list[Part] = []
    if quoted:
        at = start
        while at < end:
            at = max(_double(text, at, end, parts, NO_HOLES, plain=False), at + 1)
        return tuple(part for part in parts if part.end <= end)
    at = start
    while at < end:
        blanks = skip_blanks(text, at, end)
        if blanks > at:
            parts.append(Part(TEXT, at, blanks, text[at:blanks], False))
        word = scan_word(text, blanks, end)
        parts.extend(word.parts)
        at = word.end if word.end > blanks else blanks + 1
        if word.end <= blanks < end:
            parts.append(Part(TEXT, blanks, at, text[blanks:at], False))
    return tuple(parts)
