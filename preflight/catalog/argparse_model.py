"""What the engine's argparse makes of a command line: the options it sees, and everything it refuses.

The real parser stops at its first error; this one notes each and goes on as if the user had meant well, in the order in
which the real one would come to them. Semantics are those of Python 3.11's argparse with abbreviations allowed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from preflight.catalog.load import HELP_SPELLINGS, Flag, FlagTable, Match
from preflight.catalog.values import UNKNOWN, convert, expected
from preflight.records import NamedTuple

UNKNOWN_FLAG, AMBIGUOUS, REMOVED, TOO_NEW = "unknown", "ambiguous", "removed", "too-new"
WRONG_TYPE, NOT_A_CHOICE, MISSING_VALUE, UNEXPECTED_VALUE = (
    "wrong-type",
    "not-a-choice",
    "missing-value",
    "unexpected-value",
)
STRAY, MISSING_REQUIRED, DEPRECATED, DUPLICATE, HELP = (
    "stray-positional",
    "missing-required",
    "deprecated",
    "duplicate",
    "help",
)
_HARMLESS = (DEPRECATED, DUPLICATE, HELP)
# The real parser looks at every word first, then takes options from left to right, then looks for what is missing or
# left.
_PASS = {AMBIGUOUS: 0, MISSING_REQUIRED: 2, UNKNOWN_FLAG: 3, TOO_NEW: 3, STRAY: 3}
_NEGATIVE_NUMBER = re.compile(r"-\d+|-\d*\.\d+", re.ASCII)


class Word(Protocol):
    """A word of a command line; `value` is None where its text is not known."""

    @property
    def value(self) -> str | None: ...


class Occurrence(NamedTuple):
    """One use of an option.

    `at` is the index of the flag's word, `values` those of its values: `at` itself in the form `--flag=value`.
    `typed` is the spelling used, `spelling` the full one. `value` is converted, a tuple of such where the option
    takes several.
    """

    flag: Flag
    at: int
    values: tuple[int, ...]
    typed: str
    spelling: str
    value: object


class Problem(NamedTuple):
    """Something that the parser refuses, or that is worth a word.

    `at` is the index of the word at fault (0 where something is missing: the head of the launch); `words` all that
    belong to it, such as the values of an unknown flag. `data`, by kind: candidates, nearest, typed, choices, value,
    expected, missing, switch (the flag without a value before a stray word), last (the index of the later use that
    wins).
    """

    kind: str
    at: int
    words: tuple[int, ...] = ()
    flag: Flag | None = None
    data: Mapping[str, object] = {}

    @property
    def refuses(self) -> bool:
        """Whether the launch stops here."""
        return self.kind not in _HARMLESS


class Parsed(NamedTuple):
    """`complete` is False where words that cannot be seen may add options."""

    occurrences: tuple[Occurrence, ...]
    problems: tuple[Problem, ...]
    complete: bool

    def last(self, setting: str) -> Occurrence | None:
        """The use of `setting` that counts: the last one."""
        return next((use for use in reversed(self.occurrences) if use.flag.writes == setting), None)


_SUGGESTED = 100
"""After so many problems the words are of another program, and what each may have meant is not looked for."""
_OPTION, _ARGUMENT, _UNSEEN, _TERMINATOR = "O", "A", "U", "-"


class _Slot(NamedTuple):
    """A word as the parser sees it."""

    kind: str
    match: Match | None = None
    attached: str | None = None
    typed: str = ""


def parse(
    words: Sequence[Word],
    table: FlagTable,
    *,
    complete: bool = True,
    from_config: int = 0,
    serve_positional: bool = False,
) -> Parsed:
    """The options of `words`, the command line without the program.

    `from_config`: how many of the first words come from a configuration file; the rest overrides them without a word.
    `serve_positional`: a first word that is no flag is the model path, as for `sglang serve` where the release has
    that.
    """
    return _Parser(words, table, complete, from_config).run(serve_positional)


class _Parser:
    def __init__(self, words: Sequence[Word], table: FlagTable, complete: bool, from_config: int) -> None:
        self._words = words
        self._table = table
        self._complete = complete
        self._from_config = from_config
        self._uses: list[Occurrence] = []
        self._problems: list[tuple[int, int, Problem]] = []
        self._slots = [_Slot(_ARGUMENT)] * len(words)
        self._classify()

    def run(self, serve_positional: bool) -> Parsed:
        index = self._take_model() if serve_positional else 0
        owner: Problem | None = None  # an option that is not known: the words after it are taken for its values
        switch: str | None = None
        while index < len(self._slots):
            kind = self._slots[index].kind
            if kind == _OPTION:
                index, owner, switch = self._take_option(index)
                continue
            if kind == _UNSEEN:
                self._complete = False  # it may be an option, one more value, or nothing
            elif owner is not None:
                owner = self._extend(owner, index)
            else:
                self._note(Problem(STRAY, index, (index,), None, {"value": self._words[index].value, "switch": switch}))
            index += 1
        self._look_for_required()
        self._look_for_duplicates()
        self._problems.sort(key=lambda entry: entry[:2])
        return Parsed(tuple(self._uses), tuple(problem for _, _, problem in self._problems), self._complete)

    def _note(self, problem: Problem, order: int | None = None) -> None:
        self._problems.append((_PASS.get(problem.kind, 1) if order is None else order, problem.at, problem))

    # -- what each word is ---------------------------------------------------------------------------------------------

    def _classify(self) -> None:
        terminated = False
        for index, word in enumerate(self._words):
            text = word.value
            if text is None:
                self._slots[index] = _Slot(_UNSEEN)
            elif text == "--" and not terminated:
                terminated = True
                self._slots[index] = _Slot(_TERMINATOR)
            elif not terminated:
                self._slots[index] = self._slot(text)

    def _slot(self, text: str) -> _Slot:
        if len(text) < 2 or text[0] != "-":
            return _Slot(_ARGUMENT)
        if text in HELP_SPELLINGS:
            return _Slot(_OPTION, Match(HELP, None, text), None, text)
        name, equals, value = text.partition("=")
        match = self._table.match(name)
        if match.kind == "unknown" and (_NEGATIVE_NUMBER.fullmatch(text) or " " in text):
            return _Slot(_ARGUMENT)
        return _Slot(_OPTION, match, value if equals else None, name)

    # -- taking options ------------------------------------------------------------------------------------------------

    def _take_model(self) -> int:
        """The model path as first word of `sglang serve`; where the parser goes on."""
        slot = self._slots[0] if self._slots else None
        flag = self._table.flag("model-path")
        if slot is None or flag is None or slot.kind != _ARGUMENT:
            return 0
        self._uses.append(Occurrence(flag, 0, (0,), "", "--model-path", self._words[0].value))
        return 1

    def _take_option(self, index: int) -> tuple[int, Problem | None, str | None]:
        """The next index, the problem that words after it belong to, and the spelling if it was a switch."""
        slot = self._slots[index]
        match = slot.match
        assert match is not None
        if match.spelling in HELP_SPELLINGS:
            self._note(Problem(HELP, index, (index,)))
            return index + 1, None, None
        if match.flag is None:
            problem = self._foreign(index, slot, match)
            self._note(problem, _PASS[AMBIGUOUS if match.kind == "ambiguous" else UNKNOWN_FLAG])
            return index + 1, None if slot.attached is not None else problem, None
        values = self._values_of(index, slot, match.flag)
        self._use(match.flag, index, values, slot)
        return max([index, *values]) + 1, None, slot.typed if match.flag.switch else None

    def _foreign(self, index: int, slot: _Slot, match: Match) -> Problem:
        """A spelling that this release does not know, or knows too many of."""
        kind = AMBIGUOUS if match.kind == "ambiguous" else UNKNOWN_FLAG
        history = self._table.history(slot.typed)
        if history is not None:
            kind = TOO_NEW if self._table.is_before(history.added_in) else REMOVED
        data: dict[str, object] = {"typed": slot.typed}
        if match.kind == "ambiguous":
            data["candidates"] = match.candidates
        elif kind == UNKNOWN_FLAG and len(self._problems) < _SUGGESTED:
            data["nearest"] = self._table.nearest(slot.typed)
        return Problem(kind, index, (index,), None, data)

    def _extend(self, owner: Problem, index: int) -> Problem:
        """`owner` with the word at `index`."""
        longer = owner._replace(words=(*owner.words, index))
        place = next(i for i in reversed(range(len(self._problems))) if self._problems[i][2] is owner)
        self._problems[place] = (*self._problems[place][:2], longer)
        return longer

    def _values_of(self, index: int, slot: _Slot, flag: Flag) -> tuple[int, ...]:
        """The indices of the words that are its values."""
        if slot.attached is not None:
            if flag.switch:
                self._note(Problem(UNEXPECTED_VALUE, index, (index,), flag, {"value": slot.attached}))
                return ()
            return (index,)
        run = index + 1
        while run < len(self._slots) and self._slots[run].kind in (_ARGUMENT, _UNSEEN):
            run += 1
        least, most = _arity(flag.nargs)
        taken = tuple(range(index + 1, run))[:most]
        if len(taken) < least and not (run == len(self._slots) and not self._complete):
            self._note(Problem(MISSING_VALUE, index, (index,), flag, {"expected": expected(flag)}))
        if any(self._slots[place].kind == _UNSEEN for place in taken[least:]):
            self._complete = False
        return taken

    def _use(self, flag: Flag, index: int, values: tuple[int, ...], slot: _Slot) -> None:
        assert slot.match is not None
        texts = [slot.attached if place == index else self._words[place].value for place in values]
        converted = [self._converted(flag, place, text) for place, text in zip(values, texts, strict=True)]
        value = _value(flag, slot.match.spelling, converted)
        self._uses.append(Occurrence(flag, index, values, slot.typed, slot.match.spelling, value))
        if flag.fails:
            self._note(Problem(REMOVED, index, (index, *values), flag, {"typed": slot.typed}))
        elif flag.deprecated:
            self._note(Problem(DEPRECATED, index, (index, *values), flag, {"typed": slot.typed}))

    def _converted(self, flag: Flag, at: int, text: str | None) -> object:
        if text is None:
            return UNKNOWN
        try:
            value = convert(flag, text)
        except (ValueError, RecursionError):
            self._note(Problem(WRONG_TYPE, at, (at,), flag, {"value": text, "expected": expected(flag)}))
            return UNKNOWN
        if flag.choices is not None and value is not UNKNOWN and value not in flag.choices:
            self._note(Problem(NOT_A_CHOICE, at, (at,), flag, {"value": text, "choices": flag.choices}))
        return value

    # -- the whole -----------------------------------------------------------------------------------------------------

    def _look_for_required(self) -> None:
        if not self._complete:
            return
        given = {use.flag.dest for use in self._uses}
        for flag in self._table.required():
            if flag.dest not in given:
                self._note(Problem(MISSING_REQUIRED, 0, (), flag, {"missing": flag.spellings}))

    def _look_for_duplicates(self) -> None:
        last: dict[str, Occurrence] = {}
        for use in reversed(self._uses):
            winner = last.setdefault(use.flag.dest, use)
            overridden = use.at < self._from_config <= winner.at
            if winner is not use and not overridden:
                self._note(Problem(DUPLICATE, use.at, (use.at, *use.values), use.flag, {"last": winner.at}))


def _arity(nargs: str | int | None) -> tuple[int, int | None]:
    """Least and most words."""
    if nargs is None:
        return 1, 1
    if isinstance(nargs, int):
        return nargs, nargs
    return (1 if nargs == "+" else 0), (1 if nargs == "?" else None)


def _value(flag: Flag, spelling: str, converted: list[object]) -> object:
    """What the option sets its setting to."""
    if flag.action == "optional_boolean":
        return not spelling.startswith("--no-")
    if flag.switch or flag.action == "deprecated_store_const":
        return flag.const if flag.const is not None else True
    if flag.nargs is None:
        return converted[0] if converted else UNKNOWN
    if flag.nargs == "?":
        return converted[0] if converted else flag.const
    return tuple(converted)
