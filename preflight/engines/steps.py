"""Ordered steps: an engine's resolution and refusals as rows, run in upstream's order on half-resolved values.

A row *sets* values, *refuses* the launch, *warns*, or says that the launch *dies* later, under a condition and a range of
versions. Reading an unknown setting silences a row; where a row would have set a value, that value becomes unknown. So a
condition reads no more than it needs, and first what settles it: `s.page_size is None and s.attention_backend == "fa3"`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preflight.diagnostics import UNSAFE, Severity
from preflight.engines.versions import APPLIES, NOT, Version, applies
from preflight.records import NamedTuple
from preflight.text import Place

if TYPE_CHECKING:
    from preflight.hardware.types import Hardware
    from preflight.model.types import Model

SETS, REFUSES, WARNS, DIES = "sets", "refuses", "warns", "dies"


class Unknown(Exception):
    """A row read what is not known. Its argument names what is missing."""


class _UnknownValue:
    """The value of a setting that cannot be known."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise Unknown("a value that is not known")


UNKNOWN: Any = _UnknownValue()

FILE, INLINE_DEFAULT, ENGINE_DEFAULT, MODEL_OVERRIDE = "file", "inline-default", "engine-default", "model-override"
PROFILE, PROJECT, OBSERVED, NOT_KNOWN = "profile", "project", "observed", "unknown"


class Setting(NamedTuple):
    """A resolved value under its stable name. `flag` is this version's spelling, `by` the row that set it."""

    value: Any
    origin: str
    place: Place | None = None
    flag: str | None = None
    by: str | None = None

    @property
    def given(self) -> bool:
        return self.origin in (FILE, INLINE_DEFAULT, PROJECT)


class Facts:
    """Named facts read as attributes; a fact that is None or absent is unknown to whoever reads it."""

    __slots__ = ("_facts", "_of")

    def __init__(self, of: str, facts: object) -> None:
        self._of = of
        self._facts = facts

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._facts, name, None)
        if value is None:
            raise Unknown(f"{self._of} {name}")
        return value

    def known(self, name: str) -> Any:
        """The fact, or None where it is not known."""
        return getattr(self._facts, name, None)


class State:
    """What a row's condition sees: settings by snake_case name, `gpu`, `model`, `draft`, `version`, and the environment."""

    def __init__(
        self,
        settings: dict[str, Setting],
        *,
        version: Version,
        hardware: Hardware | None,
        model: Model | None,
        draft: Model | None = None,
        env: Mapping[str, str | None] = {},
        complete: bool = True,
    ) -> None:
        self.settings = settings
        self.version = version
        self.circumstances = hardware, model, draft
        self.gpu = Facts("GPU", hardware)
        self.model = Facts("model", model)
        self.draft = Facts("draft model", draft)
        self.complete = complete
        self._env = env
        self.reads: dict[str, None] = {}
        """The settings that the present row has read, in order."""
        self.read_env = False
        """Whether the present row has read the environment."""
        self.changed: set[str] = set()
        """The settings that are not as the engine starts from."""
        self.crashes: list[tuple[str, Exception]] = []
        """Rows whose code failed: our bugs, never the user's."""

    def __getattr__(self, attribute: str) -> Any:
        return self.get(_STABLE[attribute])

    def get(self, name: str) -> Any:
        """The value of a setting by its stable name; None where it is unset. Raises Unknown."""
        self.reads[name] = None
        setting = self.settings.get(name)
        if setting is not None:
            value = setting.value
            if value is not UNKNOWN:
                return value
        elif self.complete:
            return None
        raise Unknown(name)

    def given(self, name: str) -> bool:
        """Whether the user gave the setting. Raises Unknown where an opaque tail may give it."""
        setting = self.settings.get(name)
        self.reads[name] = None
        if setting is not None and setting.given:
            return True
        if not self.complete:
            raise Unknown(name)
        return False

    def env(self, name: str, default: str | None = None) -> str | None:
        """An environment variable as the launch sets it. Raises Unknown where its value is not known."""
        self.read_env = True
        if name not in self._env:
            return default
        value = self._env[name]
        if value is None:
            raise Unknown(name)
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """An environment switch as SGLang reads it: true/1/yes/y and false/0/no/n, anything else its default."""
        value = self.env(name)
        return default if value is None else {**_TRUE, **_FALSE}.get(value.strip().lower(), default)


class _StableNames(dict[str, str]):
    """The stable name of a setting by the attribute that a condition reads."""

    def __missing__(self, attribute: str) -> str:
        name = self[attribute] = attribute.replace("_", "-")
        return name


_STABLE = _StableNames()
_TRUE = dict.fromkeys(("true", "1", "yes", "y"), True)
_FALSE = dict.fromkeys(("false", "0", "no", "n"), False)

Condition = Callable[[Any], Any]
"""A function of the `State`."""


class Set(NamedTuple):
    """Remedy: give `name` the value (None: take the flag out). `value` may be a function of the state."""

    name: str
    value: Any
    applicability: str = UNSAFE
    title: str | None = None


class Row(NamedTuple):
    """One thing that an engine does to a launch, from the row `id` of the facts.

    `when` is the condition. SETS: `sets` names the setting and `value` gives it (a constant, or a function of the
    state); several names take as many values. With `says` it is a finding: a warning where it replaces what the user
    gave, a note where it only fills in. REFUSES, WARNS, DIES: `says` is the message. A message is a text with settings
    in braces (`{tp_size}`, `{gpu__gpu}`, `{env_NCCL_ALGO}`) or a function of the state. `at` is the setting to point
    at, `fix` the remedies (several changes at once in a tuple). `severity` replaces what the effect implies.

    `bad` is a command line that the row hits, with what surrounds it after an @: `--tp-size 6 @ 0.5.9 8x-h200
    qwen3-32b` (version, hardware, model, `NAME=value` of the environment). `good` is one that it does not hit: other
    values for the flags of `bad` (`--tp-size 8`; a flag without its value, `--no:page-size`, is taken out).

    `step` and `order` are its place: a step other than its topic's, and the order within the step.
    """

    id: str
    effect: str
    when: Condition
    versions: str = ".."
    sets: str | tuple[str, ...] | None = None
    value: Any = None
    origin: str = ENGINE_DEFAULT
    says: str | Callable[[Any], str] | None = None
    at: str | None = None
    fix: tuple[Set | tuple[Set, ...], ...] = ()
    stage: str | None = None
    source: str = ""
    bad: str | None = None
    good: str | None = None
    order: int = 50
    data: Callable[[Any], Mapping[str, object]] | None = None
    step: str | None = None
    severity: Severity | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The settings that it sets."""
        return self.sets if isinstance(self.sets, tuple) else () if self.sets is None else (self.sets,)


class Topic(NamedTuple):
    """One mistake whose knowledge is rows: its code and name, and the step of upstream's order where its rows run."""

    code: str
    name: str
    engine: str
    step: str
    aliases: tuple[str, ...] = ()


class Step(NamedTuple):
    """A row in its place for one release. `sure`: the release, or the read ones on both sides of it, have the row."""

    row: Row
    topic: Topic | None
    sure: bool


class Event(NamedTuple):
    """A row that took effect: what it set from what to what, or what it says, and the settings that its condition read."""

    row: Row
    topic: Topic | None
    sure: bool
    name: str | None = None
    """The setting that was set."""
    before: Setting | None = None
    after: Any = None
    message: str = ""
    reads: tuple[str, ...] = ()
    data: Mapping[str, object] = {}
    fixes: tuple[tuple[tuple[Set, Any], ...], ...] = ()
    """Each remedy: its changes with their values worked out on the state that the row saw."""

    @property
    def overrides(self) -> bool:
        """Whether it replaced what the user gave."""
        return self.before is not None and self.before.given


class _Shown(dict[str, Any]):
    """Settings for a message: written as on a command line."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def __missing__(self, name: str) -> str:
        if name.startswith("env_"):
            return str(self._state.env(name[4:]))
        source: Any = self._state
        for part in name.split("__"):
            source = getattr(source, part)
        return ".".join(map(str, source)) if name == "gpu__compute_capability" else show(source)


def show(value: Any) -> str:
    """A value as a person writes it: no trailing zeros, lists with spaces, true and false."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return " ".join(map(show, value))
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def in_order(
    order: Sequence[str],
    rows: Iterable[tuple[str, Row, Topic | None]],
    version: Version,
    read: tuple[Version, ...],
) -> list[Step]:
    """The rows that hold for a release, by the steps of `order`; within a step by their own `order`."""
    position = {step: index for index, step in enumerate(order)}
    placed = []
    for step, row, topic in rows:
        certainty = applies(row.versions, version, read)
        if certainty != NOT:
            placed.append((position[row.step or step], row.order, Step(row, topic, certainty == APPLIES)))
    placed.sort(key=lambda entry: entry[:2])
    return [entry[2] for entry in placed]


def run_steps(state: State, steps: Sequence[Step], defaults: Mapping[str, Setting] = {}) -> list[Event]:
    """Runs the rows in their order on `state`, changing its settings, and gives what took effect, in order.

    `defaults` is what the engine starts from where nothing is given. A condition that was false of nothing but defaults is
    false again while they are untouched, on the same machine with the same model, so it is not asked again: most rows are
    about flags that few launches give.
    """
    events: list[Event] = []
    idle = _idle(state, steps, defaults)
    changed = state.changed = {name for name, setting in state.settings.items() if defaults.get(name) is not setting}
    for number, step in enumerate(steps):
        read = idle[number]
        if read is not None and state.complete and read.isdisjoint(changed):
            continue
        row = step.row
        state.reads, state.read_env = {}, False
        try:
            if row.when(state):
                events += _effect(state, step)
            elif read is None and not state.read_env and changed.isdisjoint(state.reads):
                idle[number] = frozenset(state.reads)
        except (Unknown, ArithmeticError):  # a size of 0 divides nothing: other rows speak of it
            for name in row.names:
                _forget(state, name)
        except Exception as error:  # a bug in one row must not hide what the others find
            state.crashes.append((row.id, error))
    return events


_Idle = list[frozenset[str] | None]
_idle_rows: dict[object, tuple[Sequence[Step], Mapping[str, Setting], _Idle]] = {}


def _idle(state: State, steps: Sequence[Step], defaults: Mapping[str, Setting]) -> _Idle:
    """What each condition has read when it was false of defaults alone; None where it was not yet. Kept with the objects that
    it is about, so that no others can have their identity."""
    key = id(steps), id(defaults), state.circumstances
    try:
        found = _idle_rows.get(key)
    except TypeError:  # a fact of a kind that no profile has: nothing is kept
        return [None] * len(steps)
    if found is None:
        if len(_idle_rows) >= 64:
            _idle_rows.clear()
        found = _idle_rows[key] = steps, defaults, [None] * len(steps)
    return found[2]


def _forget(state: State, name: str) -> None:
    before = state.settings.get(name)
    state.settings[name] = Setting(UNKNOWN, NOT_KNOWN, before.place if before else None, before.flag if before else None)
    state.changed.add(name)


def _effect(state: State, step: Step) -> list[Event]:
    row, topic, sure = step
    if row.effect == SETS:
        return _set(state, step)
    reads = tuple(state.reads)
    message = _message(state, row)
    data = row.data(state) if row.data else {}
    return [Event(row, topic, sure, message=message, reads=reads, data=data, fixes=_fixes(state, row))]


def _set(state: State, step: Step) -> list[Event]:
    row, topic, sure = step
    value = row.value(state) if callable(row.value) else row.value
    values = value if isinstance(row.sets, tuple) else (value,)
    reads = tuple(state.reads)
    changes = []
    for name, after in zip(row.names, values, strict=True):
        before = state.settings.get(name)
        unset = before is None and after in (None, False)
        if unset or (before is not None and before.value is not UNKNOWN and before.value == after):
            continue
        place, flag = (before.place, before.flag) if before else (None, None)
        state.settings[name] = Setting(after, row.origin, place, flag, row.id)
        state.changed.add(name)
        changes.append(Event(row, topic, sure, name, before, after, reads=reads))
    if not changes or row.says is None:
        return changes
    # One row, one finding: at what the user gave, where it gave any of it.
    first = next((event for event in changes if event.overrides), changes[0])
    said = first._replace(message=_message(state, row), fixes=_fixes(state, row))
    return [said if event is first else event for event in changes]


def _message(state: State, row: Row) -> str:
    if row.says is None:
        return ""
    return row.says(state) if callable(row.says) else row.says.format_map(_Shown(state))


def _fixes(state: State, row: Row) -> tuple[tuple[tuple[Set, Any], ...], ...]:
    fixes = []
    for remedy in row.fix:
        changes = (remedy,) if isinstance(remedy, Set) else remedy
        try:
            fixes.append(tuple((change, change.value(state) if callable(change.value) else change.value) for change in changes))
        except Unknown:
            continue
    return tuple(fixes)
