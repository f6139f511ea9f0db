"""The flag history on the lint path: one JSON file read, one release chosen, options looked up as argparse would.

    catalogue = load("sglang")
    table = catalogue.at("0.5.9")
    table.match("--tp").flag.setting        # "tp-size"

Only the standard library, and little of it: this is read in every lint.
"""

# No postponed annotations here: NamedTuple compiles each of them from its text, which costs 2 ms.
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preflight.catalog.books import EXACT, Timeline, added_books, alive, read_book
from preflight.catalog.versions import version_key
from preflight.records import NamedTuple

PREFIX, AMBIGUOUS, UNKNOWN = "prefix", "ambiguous", "unknown"
_SWITCHES = ("store_true", "deprecated_store_true")
_NO_VALUE = (*_SWITCHES, "optional_boolean")
HELP_SPELLINGS = ("-h", "--help")


class Flag(NamedTuple):
    """One option of one release.

    `name` is its own first spelling without dashes; `setting` one name in all releases, whatever it was called;
    `writes` the setting it changes (another one for the old switches that set a value of a new flag, then `const` is
    that value). `nargs` and `default` are argparse's; `fallback` is what the engine takes when nothing sets it.
    `type`: str, int, float, bool, json, json_list, human_readable_int, nullable_str or a parser's name. `field`: the
    attribute of ServerArgs.
    """

    name: str
    setting: str
    spellings: tuple[str, ...]
    dest: str
    action: str
    type: str
    nargs: str | int | None
    choices: tuple[object, ...] | None
    default: object
    const: object
    required: bool
    hidden: bool
    deprecated: bool
    fails: bool
    field: str
    fallback: object
    writes: str
    keys: Mapping[str, Sequence[str]] | None

    @property
    def switch(self) -> bool:
        """Whether it takes no value at all."""
        return self.nargs == 0


class Match(NamedTuple):
    """What argparse makes of a spelling. `kind`: exact, prefix, ambiguous or unknown.

    `spelling` is the full one that was meant; `candidates` those that an ambiguous prefix could mean. `one_option`: all
    of them are spellings of one option, which newer Python versions accept.
    """

    kind: str
    flag: Flag | None = None
    spelling: str = ""
    candidates: tuple[str, ...] = ()
    one_option: bool = False


class Successor(NamedTuple):
    """What to write in place of a deprecated or removed option; the kinds are those of `sglang_names.Successor`."""

    kind: str
    argv: tuple[str, ...]
    values: Mapping[str, str]
    note: str


class History(NamedTuple):
    """The life of a spelling: `spans` of first release and the one it is gone from (None: still there in the
    newest).
    """

    spelling: str
    setting: str
    spans: tuple[tuple[str, str | None], ...]
    deprecated_since: str | None
    successor: Successor | None

    @property
    def removed_since(self) -> str | None:
        return self.spans[-1][1]

    @property
    def added_in(self) -> str:
        return self.spans[0][0]


class FlagTable:
    """The options of one release. `fit`: exact, nearest (`release` is the next lower one), older or newer than known."""

    def __init__(self, book: Mapping[str, Any], index: int, fit: str, catalogue: "Catalogue") -> None:
        self.release: str = book["releases"][index]
        self.fit = fit
        self._catalogue = catalogue
        self._choices: list[list[object]] = book["choices"]
        self.features = frozenset(name for name, rows in book["features"].items() if any(alive(row, index) for row in rows))
        self._rows: dict[str, tuple[str, list[Any]]] = {}
        self._settings: dict[str, list[list[Any]]] = {}
        self._required: list[Flag] | None = None
        self._nearest: dict[str, tuple[str, ...]] = {}
        for setting, rows in book["flags"].items():
            for row in rows:
                if alive(row, index):
                    self._settings.setdefault(setting, []).append(row)
                    for spelling in _spellings(row):
                        self._rows[spelling] = setting, row

    @property
    def spellings(self) -> list[str]:
        return list(self._rows)

    def flags(self) -> Iterator[Flag]:
        """Every option once, by setting."""
        for setting, rows in self._settings.items():
            for row in rows:
                yield self._flag(setting, row)

    def flag(self, setting: str) -> Flag | None:
        """This release's option for `setting`, the current one where an old spelling is kept beside it."""
        found = [self._flag(setting, row) for row in self._settings.get(setting, ())]
        return min(found, key=lambda flag: flag.deprecated) if found else None

    def match(self, spelling: str) -> Match:
        """`spelling` as typed, with its dashes and without `=value`."""
        if spelling in self._rows:
            return Match(EXACT, self._flag(*self._rows[spelling]), spelling)
        if spelling.startswith("--"):
            options = [name for name in (*self._rows, "--help") if name.startswith(spelling)]
            if len(options) == 1:
                flag = self._flag(*self._rows[options[0]]) if options[0] in self._rows else None
                return Match(PREFIX, flag, options[0])
            if len(options) > 1:
                rows = {id(self._rows[name][1]) if name in self._rows else 0 for name in options}
                return Match(AMBIGUOUS, None, spelling, tuple(options), len(rows) == 1)
        return Match(UNKNOWN, None, spelling)

    def required(self) -> list[Flag]:
        """The options that have to be there."""
        if self._required is None:
            self._required = [
                self._flag(setting, row) for setting, rows in self._settings.items() for row in rows if "r" in row[3]
            ]
        return self._required

    def history(self, spelling: str) -> History | None:
        """The life of `spelling` over all releases."""
        return self._catalogue.history(spelling)

    def begins_ever(self, spelling: str) -> bool:
        """Whether an option of some release begins like `spelling`."""
        return self._catalogue.begins_ever(spelling)

    def is_before(self, version: str) -> bool:
        """Whether this release came out before `version`."""
        mine, other = version_key(self.release), version_key(version)
        return mine is not None and other is not None and mine < other

    def nearest(self, spelling: str) -> tuple[str, ...]:
        """Up to three spellings that may have been meant. Costs some ms: ask only where it is shown."""
        wanted = "--" + spelling.lstrip("-").replace("_", "-").lower()
        if wanted in self._rows:
            return (wanted,)
        if wanted not in self._nearest:
            from difflib import get_close_matches

            self._nearest[wanted] = tuple(get_close_matches(wanted, self._rows, n=3, cutoff=0.75))
        return self._nearest[wanted]

    def successor(self, spelling: str) -> Successor | None:
        """What to write here in place of `spelling`, an option that is deprecated here, gone, or not there yet."""
        successor = self._catalogue.successors.get(spelling)
        hops = 0
        while successor is not None and successor.argv and successor.argv[0] not in self._rows and hops < 4:
            following = self._catalogue.successors.get(successor.argv[0])
            if following is None or successor.kind != "renamed":
                break
            successor, hops = following, hops + 1
        if successor is not None and (not successor.argv or successor.argv[0] in self._rows):
            return successor
        history = self._catalogue.history(spelling)
        flag = self.flag(history.setting) if history is not None and spelling not in self._rows else None
        if flag is not None:  # the same setting under its other name: older or newer
            return Successor("renamed", (flag.spellings[0],), {}, "")
        return None

    def _flag(self, setting: str, row: list[Any]) -> Flag:
        spellings, detail = tuple(row[2]), row[3]
        get = detail.get
        action = get("a", "store")
        long = next((spelling for spelling in spellings if spelling.startswith("--")), spellings[0])
        dest = get("d") or long.lstrip("-").replace("-", "_")
        choices = get("c")
        return Flag(
            name=spellings[0].lstrip("-"),
            setting=setting,
            spellings=spellings,
            dest=dest,
            action=action,
            type=get("t", "str"),
            nargs=0 if action in _NO_VALUE else get("n"),
            choices=None if choices is None else tuple(self._choices[choices]),
            default=get("v", False if action in _SWITCHES else None),
            const=get("k", True if action in _SWITCHES else None),
            required=get("r", False),
            hidden=get("h", False),
            deprecated=get("x", False),
            fails=get("f", False),
            field=get("p", dest),
            fallback=get("b"),
            writes=get("w", setting),
            keys=get("j"),
        )


class Catalogue:
    """All known releases of one engine: the shipped history, and what a project has added of its own."""

    def __init__(self, engine: str, books: Sequence[Mapping[str, Any]]) -> None:
        self.engine = engine
        self.timeline = Timeline(books)
        self._books = books
        self._tables: dict[tuple[int, int, str], FlagTable] = {}
        self._successors: dict[str, Successor] | None = None
        self._spelled: dict[int, dict[str, list[tuple[str, list[Any]]]]] = {}
        self._sorted: list[str] | None = None

    @property
    def releases(self) -> list[str]:
        """Oldest first."""
        return self.timeline.releases

    @property
    def newest(self) -> FlagTable:
        return self._table(*self.timeline.places()[-1], EXACT)

    def at(self, version: str) -> FlagTable | None:
        """The options of `version`; of the next lower known release if it is not known itself. None: not a version."""
        place = self.timeline.find(version)
        return None if place is None else self._table(*place)

    def _table(self, number: int, index: int, fit: str) -> FlagTable:
        key = number, index, fit
        if key not in self._tables:
            self._tables[key] = FlagTable(self._books[number], index, fit, self)
        return self._tables[key]

    @property
    def successors(self) -> Mapping[str, Successor]:
        if self._successors is None:
            self._successors = {
                spelling: Successor(item["kind"], tuple(item.get("argv", ())), item.get("values", {}), item.get("note", ""))
                for book in self._books
                for spelling, item in book["successors"].items()
            }
        return self._successors

    def value_successors(self, setting: str) -> Mapping[str, Sequence[str]]:
        """What took the place of values that are gone or only rewritten, by old value."""
        values: Mapping[str, Sequence[str]] = self._books[0]["values"].get(setting, {})
        return values

    def history(self, spelling: str) -> History | None:
        """The life of `spelling` over all releases; None: no release has it."""
        if not any(spelling in self._by_spelling(number) for number in range(len(self._books))):
            return None
        rows = [self._row(number, index, spelling) for number, index in self.timeline.places()]
        here = [row is not None for row in rows]
        if not any(here):
            return None
        last = len(here) - 1 - here[::-1].index(True)
        deprecated = [row is not None and row[1][3].get("x", False) for row in rows]
        since = self.releases[deprecated.index(True)] if deprecated[last] else None
        setting = next(row[0] for row in rows if row is not None)
        return History(spelling, setting, tuple(self.timeline.spans(here)), since, self.successors.get(spelling))

    def begins_ever(self, spelling: str) -> bool:
        if self._sorted is None:
            self._sorted = sorted({one for number in range(len(self._books)) for one in self._by_spelling(number)})
        place = bisect_left(self._sorted, spelling)
        return place < len(self._sorted) and self._sorted[place].startswith(spelling)

    def _row(self, number: int, index: int, spelling: str) -> tuple[str, list[Any]] | None:
        for setting, row in self._by_spelling(number).get(spelling, ()):
            if alive(row, index):
                return setting, row
        return None

    def _by_spelling(self, number: int) -> Mapping[str, list[tuple[str, list[Any]]]]:
        if number not in self._spelled:
            out: dict[str, list[tuple[str, list[Any]]]] = {}
            for setting, rows in self._books[number]["flags"].items():
                for row in rows:
                    for spelling in _spellings(row):
                        out.setdefault(spelling, []).append((setting, row))
            self._spelled[number] = out
        return self._spelled[number]


def _spellings(row: list[Any]) -> list[str]:
    spellings: list[str] = row[2]
    return spellings


def load(engine: str, project: "str | os.PathLike[str] | None" = None) -> Catalogue:
    """The catalogue of `engine`, with the releases that `project` added below `.preflight/flags/`.

    Raises FileNotFoundError for an unknown engine. An added file that is not of this form is passed over.
    """
    return Catalogue(engine, [read_book(f"{engine}.json"), *added_books(engine, project)])
