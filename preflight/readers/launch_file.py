"""Launch files: TOML that names an engine, lowered into the argv tokens that the engine would be given."""

import math
import re
from collections.abc import Iterable, Sequence

from preflight.diagnostics import ERROR, WARNING, Finding, Problem
from preflight.launch import EnvVar, LaunchSite, Reading, Token
from preflight.readers.launch_edit import Entry, LaunchEditor
from preflight.readers.launch_keys import ENGINES, LAUNCH, TABLE, TABLES
from preflight.readers.toml import Toml, load, locate
from preflight.readers.toml_scan import PAIR, Item, Statement
from preflight.readers.toml_text import KEBAB_FLAG, SNAKE_FLAG, fixed, flag_of
from preflight.readers.values import read_table, read_value, unknown_key, wrong_type
from preflight.records import NamedTuple
from preflight.text import Document, Located, Place, Text

NO_ENGINE = "CFG011"
KIND = "toml"

_SETTINGS_NAMES = ("preflight.toml", "pyproject.toml")
_NAMES_ENGINE = re.compile(rf"^[ \t]*engine[ \t]*=[ \t]*[\"'](?:{'|'.join(ENGINES)})[\"']", re.M)


def is_launch_name(path: str) -> bool:
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    return name == "launch.toml" or name.endswith(".launch.toml")


def read(document: Document) -> Reading:
    """The launches of a TOML file, with what is wrong with the file itself. Any other TOML: no sites and no word."""
    if document.path.replace("\\", "/").rsplit("/", 1)[-1] in _SETTINGS_NAMES:
        return Reading(())
    named = is_launch_name(document.path)
    if not named and _NAMES_ENGINE.search(document.text) is None and "launch" not in document.text:
        return Reading(())
    data = load(document)
    if isinstance(data, Problem):
        return Reading((), (data,)) if named or _NAMES_ENGINE.search(document.text) else Reading(())
    if not named and not _names_engine(data):
        return Reading(())
    toml = locate(document, data)
    return _Launches(toml).reading()


def _names_engine(data: dict[str, object]) -> bool:
    launches = data.get("launch")
    tables = [data, *(launches if isinstance(launches, list) else ())]
    return any(isinstance(table, dict) and table.get("engine") in ENGINES for table in tables)


class _Level(NamedTuple):
    """What one table level says: the top of the file, or one [[launch]]."""

    item: Item
    scalars: dict[str, Located[str]]
    tables: dict[str, dict[str, Located[object]]]
    flags: Item | None
    env: dict[str, EnvVar]


class _Launches:
    def __init__(self, toml: Toml) -> None:
        self.toml = toml
        self.document = toml.document
        self.problems: list[Problem] = []

    def reading(self) -> Reading:
        top, launches = self._levels()
        sites = [
            site
            for level in (launches if launches is not None else [top])
            if (site := self._site(top, level, alone=launches is None or len(launches) == 1)) is not None
        ]
        if "preflight" not in self.document.text.lower():
            return Reading(tuple(sites), tuple(self.problems))
        from preflight.suppressions import read_comments, with_context

        comments = read_comments(self.document, self.toml.comments, self._extent)
        sites = [with_context(site, comments.context) for site in sites]
        return Reading(tuple(sites), (*self.problems, *comments.problems), comments.suppressions)

    def _levels(self) -> tuple[_Level, list[_Level] | None]:
        entries = self.toml.root.entries or {}
        top = self._level(self.toml.root, top=True)
        launch = entries.get("launch")
        if launch is None:
            return top, None
        if launch.elements is None or not all(element.entries is not None for element in launch.elements):
            self.problems.append(wrong_type(launch, "launch", "one table per launch", "Write each as [[launch]]."))
            return top, []
        return top, [self._level(element, top=False) for element in launch.elements]

    def _level(self, item: Item, *, top: bool) -> _Level:
        scalars: dict[str, Located[str]] = {}
        tables: dict[str, dict[str, Located[object]]] = {}
        flags: Item | None = None
        env: dict[str, EnvVar] = {}
        for name, entry in (item.entries or {}).items():
            key = LAUNCH.get(name)
            if key is None:
                if not (top and name in ("launch", "$schema")):
                    self.problems.append(unknown_key(entry, name, [*LAUNCH, "launch"], "" if top else "launch", item))
            elif key.kind != TABLE:
                value = read_value(entry, name, key, self.problems.append)
                if isinstance(value, str):
                    scalars[name] = Located(value, entry.place)
            elif entry.entries is None:
                self.problems.append(wrong_type(entry, name, "a table", f"Write [{name}] and its keys below it."))
            elif name == "flags":
                flags = entry
                self.problems += [problem for flag, value in entry.entries.items() for problem in _not_numbers(flag, value)]
            elif name == "env":
                env = self._env(entry)
            else:
                tables[name] = read_table(entry, TABLES[name], name, self.problems.append)
        return _Level(item, scalars, tables, flags, env)

    def _env(self, table: Item) -> dict[str, EnvVar]:
        found: dict[str, EnvVar] = {}
        for name, item in (table.entries or {}).items():
            text = item.text
            if text is None or isinstance(item.value, bool):
                new = None if text is None else '"1"' if item.value else '"0"'
                remedy = "Write what the variable has to hold."
                self.problems.append(wrong_type(item, name, "a string", remedy, new if text is None else None))
                continue
            found[name] = EnvVar(name, Token(text.value, text, text if item.exact else None), item.key_place)
        return found

    def _site(self, top: _Level, level: _Level, *, alone: bool) -> LaunchSite | None:
        scalars = {**top.scalars, **level.scalars}
        engine = scalars.get("engine")
        if engine is None:
            if not any("engine" in (one.item.entries or {}) for one in (top, level)):
                self._engine_missing(level)
            return None
        entries, off = self._flags(top, level, alone)
        tables = {name: {**top.tables.get(name, {}), **level.tables.get(name, {})} for name in TABLES}
        name = level.scalars.get("name") or scalars.get("name")
        return LaunchSite(
            document=self.document,
            kind=KIND,
            head=self._head(top, level),
            engine=engine.value,
            argv=tuple(token for entry in entries for token in entry.tokens),
            complete=True,
            editor=LaunchEditor(self.toml, level.item, tuple(entries), off),
            env=tuple({**top.env, **level.env}.values()),
            version=scalars.get("engine-version"),
            hardware=tables["hardware"],
            model=tables["model"],
            observed=tables["observed"],
            expect=tables["expect"],
            baseline=tables["baseline"],
            name=None if name is None else name.value,
            extent=self.document.place(0, len(self.document.text)) if level is top else self._whole(level.item),
        )

    def _engine_missing(self, level: _Level) -> None:
        place = level.item.place if level.item is not self.toml.root else self._first_place()
        message = f'This launch names no engine, so nothing of it can be checked. Add engine = "{ENGINES[0]}" or "{ENGINES[1]}".'
        self.problems.append(Problem(NO_ENGINE, Finding(message, place, ERROR)))

    def _first_place(self) -> Place:
        if not self.toml.statements:
            return self.document.place(0, 0)
        first = self.toml.statements[0]
        return self.document.place(first.start, first.keys[-1].span.end if first.kind == PAIR else first.end)

    def _head(self, top: _Level, level: _Level) -> Place:
        """The engine key; of a launch that inherits it, its own header."""
        own = (level.item.entries or {}).get("engine")
        if own is not None:
            return own.key_place
        return level.item.place

    def _flags(self, top: _Level, level: _Level, alone: bool) -> tuple[list[Entry], dict[str, Item]]:
        """Flags in the order of the file, those of the top level first unless the launch gives them itself."""
        own = level.flags.entries or {} if level.flags is not None else {}
        given = {flag_of(name) for name in own}
        inherited: dict[str, Item] = {}
        if level is not top and top.flags is not None:
            inherited = {name: item for name, item in (top.flags.entries or {}).items() if flag_of(name) not in given}
        entries: list[Entry] = []
        off: dict[str, Item] = {}
        for items, editable, mine in ((inherited, alone, False), (own, True, True)):
            for name, item in items.items():
                if item.value is False:
                    off[flag_of(name)] = item
                entries.append(Entry(flag_of(name), item, mine, tuple(_lower(name, item, editable))))
        return entries, off

    def _whole(self, item: Item) -> Place:
        if item.inline:
            return item.place
        return self.document.place(*_section(self.toml.statements, item.statement))

    def _extent(self, offset: int, below: bool) -> Place | None:
        for index, statement in enumerate(self.toml.statements):
            if below and statement.start == offset:
                if statement.kind == PAIR:
                    return self.document.place(statement.start, statement.end)
                return self.document.place(*_section(self.toml.statements, index))
            if not below and statement.kind == PAIR and statement.end == offset:
                start = self.document.lines.position(statement.start)[0]
                return self.document.place(self.document.lines.line_start(start), statement.end)
        return None


def _section(statements: Sequence[Statement], index: int) -> tuple[int, int]:
    """From a header to the end of the last statement under it or a table inside it."""
    header = statements[index]
    names = [key.value for key in header.keys]
    end = header.end
    for statement in statements[index + 1 :]:
        if statement.kind != PAIR:
            inside = [key.value for key in statement.keys]
            if len(inside) <= len(names) or inside[: len(names)] != names:
                break
        end = statement.end
    return header.start, end


def _lower(name: str, item: Item, editable: bool) -> Iterable[Token]:
    """The words of one flag. `false` is no word: what it leaves out is for the engine's catalogue to say."""
    if item.value is False:
        return
    yield _word(_flag_text(name, item), editable and item.exact)
    if item.value is True:
        return
    for element in item.elements if item.elements is not None else [item]:
        yield _value(element, editable)


def _not_numbers(name: str, item: Item) -> Iterable[Problem]:
    """Values that TOML can write and that no flag has a use for."""
    for element in item.elements if item.elements is not None else [item]:
        if isinstance(element.value, float) and not math.isfinite(element.value):
            message = f"{name} is not a finite number. Give the number as it is, or remove the key."
            yield Problem("UNT006", Finding(message, element.place, ERROR if math.isnan(element.value) else WARNING))


def _word(text: Text, editable: bool) -> Token:
    return Token(text.value, text, text if editable else None)


def _flag_text(name: str, item: Item) -> Text:
    key = item.key
    if key is not None:
        codec = SNAKE_FLAG if "_" in key.raw and "-" not in key.raw else KEBAB_FLAG
        text = Text.of(key.document, key.span.start, key.span.end, codec)
        if text is not None and text.value == flag_of(name):
            return text
    return fixed(item.place.document, item.key_place.span, flag_of(name))


def _value(item: Item, editable: bool) -> Token:
    if item.text is not None:
        return _word(item.text, editable and item.exact)
    import json

    document, span = item.place.document, item.place.span
    try:
        value = json.dumps(item.value, default=str, ensure_ascii=False)
    except (ValueError, RecursionError):  # integers of thousands of digits
        return Token(None, fixed(document, span, ""), None)
    return Token(value, fixed(document, span, value), None)
