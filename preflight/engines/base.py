"""A resolved launch, and what an engine is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preflight.diagnostics import UNSAFE, Fix, Related, Severity
from preflight.engines.steps import UNKNOWN, Event, Row, Setting, Step, Topic
from preflight.engines.versions import Version
from preflight.launch import LaunchSite, Token
from preflight.memory.range import Range
from preflight.records import NamedTuple
from preflight.text import Edit, Located, Place, Text

if TYPE_CHECKING:
    from preflight.hardware.types import Hardware
    from preflight.memory.budget import Budget
    from preflight.model.types import Model


class Observed(NamedTuple):
    """Figures of a boot log, bytes per GPU as the engine takes them (the minimum over ranks); bounds are the rounding."""

    free_before_load: Range | None = None
    free_after_load: Range | None = None
    weights: Range | None = None
    draft_weights: Range | None = None
    kv_tokens: int | None = None
    kv_cache: Range | None = None
    graphs: Range | None = None
    activations: Range | None = None


class Expect(NamedTuple):
    kv_tokens: int | None = None
    context_length: int | None = None
    concurrent_requests: int | None = None


class FlagUse(NamedTuple):
    """One flag of the command line: its stable name, and which tokens of the argv spell it and its values.

    `attached`: the value is part of the flag's own token, `--flag=value`.
    """

    name: str
    spelling: str
    value: Any
    first: int
    last: int
    attached: bool = False

    def is_bare(self) -> bool:
        return self.first == self.last and not self.attached


class FlagProblem(NamedTuple):
    """Something that the engine's parser refuses in a command line, or that is worth a word.

    `kind`: unknown, removed, too-new, ambiguous, wrong-type, not-a-choice, missing-value, unexpected-value, stray-positional,
    missing-required, deprecated, duplicate. Tokens `first` to `last` are at fault (-1: something is absent). `added`,
    `removed` and `deprecated` are releases; `successor` says what to write instead, by `successor_kind`: renamed, value
    (all of it), mapped, default (delete it), related, gone.
    """

    kind: str
    first: int
    last: int
    typed: str
    data: Mapping[str, Any] = {}
    added: str | None = None
    removed: str | None = None
    deprecated: str | None = None
    successor_kind: str | None = None
    successor: tuple[str, ...] = ()
    successor_values: Mapping[str, str] = {}
    note: str = ""
    ever: bool = True
    """Whether some release has an option that begins so."""


class Parsing(NamedTuple):
    """A command line as a release's parser reads it. `complete` is False where words that cannot be seen may add flags."""

    settings: dict[str, Setting]
    uses: tuple[FlagUse, ...]
    problems: tuple[FlagProblem, ...] = ()
    complete: bool = True
    defaults: Mapping[str, Setting] = {}
    """What the engine starts from where nothing is given: the same object for the same release."""


class VersionChoice(NamedTuple):
    """Which release a launch is judged by, and how sure that is.

    `cap` bounds the severity of memory findings, `argument_cap` that of what the rows say, `flag_cap` that of all else;
    `others` are the further releases that the project allows.
    """

    version: Version
    text: str
    given: str | None
    cap: Severity
    others: tuple[str, ...] = ()
    note: str | None = None
    argument_cap: Severity = Severity.ERROR
    flag_cap: Severity = Severity.ERROR
    known: bool = True
    """False for a release older than the first catalogue: its flags are not judged."""


class Spread(NamedTuple):
    """How a launch spreads over GPUs: `ranks` in all, over `nodes` of the engine's own counting, as the product of `sizes`.

    None where it cannot be told, or where other launches hold a part of the ranks. `first` and `step` number the GPUs of a
    node. `rendezvous`: the setting that names the address where several nodes meet, where it is given.
    """

    ranks: int | None = None
    nodes: int | None = None
    sizes: tuple[str, ...] = ()
    first: int = 0
    step: int = 1
    rendezvous: str | None = None
    placed_here: bool = True
    """False where ranks may be placed on machines that the file does not show."""

    @property
    def needs(self) -> int | None:
        """GPUs that a node must have."""
        if self.ranks is None or self.nodes is None:
            return None
        return self.first + (-(-self.ranks // self.nodes) - 1) * self.step + 1


class Launch(NamedTuple):
    """A launch as one release of its engine resolves it."""

    site: LaunchSite
    engine: Engine
    version: VersionChoice
    settings: Mapping[str, Setting]
    trace: tuple[Event, ...]
    uses: tuple[FlagUse, ...]
    problems: tuple[FlagProblem, ...]
    """What the engine's parser says of the command line."""
    hardware: Hardware | None
    model: Model | None
    draft: Model | None
    observed: Observed
    expect: Expect
    tables: Mapping[str, Mapping[str, Located[object]]]
    """hardware, model, observed, expect as given, settings of the project included."""
    profile_names: Mapping[str, str | None]
    env: Mapping[str, str | None] = {}
    again: Callable[[LaunchSite], Launch] | None = None
    """Resolves another form of the launch under the same circumstances."""
    crashes: tuple[tuple[str, Exception], ...] = ()
    """Rows whose code failed."""
    spread: Spread = Spread()

    @property
    def head(self) -> Place:
        return self.site.head

    def value(self, name: str) -> Any:
        """The resolved value of a setting; None where it is unset, UNKNOWN where it cannot be known."""
        setting = self.settings.get(name)
        if setting is None:
            return None if self.site.complete else UNKNOWN
        return setting.value

    def known(self, name: str) -> Any:
        """The resolved value; None where it is unset or unknown."""
        value = self.value(name)
        return None if value is UNKNOWN else value

    def use(self, name: str) -> FlagUse | None:
        """The last use of a flag on the command line, which is the one that counts."""
        return next((use for use in reversed(self.uses) if use.name == name), None)

    def place(self, name: str) -> Place:
        """Where a setting is given, from its flag to its value; the launch's head where it is not."""
        setting = self.settings.get(name)
        return setting.place if setting is not None and setting.place is not None else self.head

    def related(self, names: Iterable[str], besides: Place) -> tuple[Related, ...]:
        """The places of the settings that were given, as related places of a finding at `besides`."""
        found: dict[tuple[str, int, int], Related] = {}
        for name in names:
            setting = self.settings.get(name)
            if setting is not None and setting.place is not None and setting.place != besides:
                found.setdefault(setting.place.key(), Related(setting.place, name))
        return tuple(found.values())

    def edit(self, name: str, value: Any) -> Edit | None:
        """The edit that gives a setting `value` (None or False: takes its flag out; True: a bare switch)."""
        use = self.use(name)
        if value is None or value is False:
            return self.site.editor.delete(use.first, use.last) if use is not None else None
        words = [*map(_spell, value)] if isinstance(value, list | tuple) else [_spell(value)]
        if use is None:
            return self.site.editor.insert(self.flag(name), () if value is True else words)
        if use.attached and len(words) == 1:
            return self.site.argv[use.first].replace(f"{use.spelling}={words[0]}")
        if use.is_bare() or use.last - use.first != len(words):
            return None
        if len(words) == 1:
            return self.site.argv[use.last].replace(words[0])
        return None

    def without(self, name: str) -> Launch | None:
        """The launch as it would be without a flag; None where the flag is not given."""
        use = self.use(name)
        if use is None or self.again is None:
            return None
        argv = self.site.argv
        return self.again(self.site._replace(argv=argv[: use.first] + argv[use.last + 1 :]))

    def with_setting(self, name: str, value: Any) -> Launch | None:
        """The launch as it would be with another value of a setting, given after all that is given."""
        if self.again is None:
            return None
        site, head = self.site, self.head
        at = site.argv[-1].at if site.argv else Text.of(head.document, head.span.start, head.span.end)
        if at is None:
            return None
        words = (self.flag(name), *(() if value is True else (_spell(value),)))
        return self.again(site._replace(argv=(*site.argv, *(Token(word, at, None) for word in words))))

    def flag(self, name: str) -> str:
        """This release's spelling of a setting, with dashes."""
        setting = self.settings.get(name)
        if setting is not None and setting.flag is not None:
            return setting.flag
        return self.engine.spelling(name, self.version.version)

    def fix(self, name: str, value: Any, title: str, applicability: str = UNSAFE) -> tuple[Fix, ...]:
        """A fix of one edit; nothing where the edit cannot be made in place."""
        edit = self.edit(name, value)
        return () if edit is None else (Fix(title, (edit,), applicability),)


def _spell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


class Listening(NamedTuple):
    """Where the server of a launch answers; None where it cannot be told, or where it does not answer at all."""

    host: str | None = None
    port: int | None = None


def _no_spread(launch: Launch) -> Spread:
    return Spread()


def _not_listening(launch: Launch) -> Listening:
    return Listening()


class Engine(NamedTuple):
    """What an engine gives to the linter. A rule knows no engine's words: they come from here."""

    name: str
    title: str
    knob: str
    """The setting that moves the KV pool."""
    read: tuple[Version, ...]
    """The releases whose source was read for the rows, ascending."""
    releases: Callable[[], Sequence[str]]
    """All releases of the flag history, ascending."""
    parse: Callable[[LaunchSite, str], Parsing]
    """The command line as a release's parser reads it."""
    steps: Callable[[Sequence[tuple[Row, Topic]], Version], Sequence[Step]]
    """Upstream's order in a release: the engine's own rows and those of the rules, merged."""
    budget: Callable[[Launch], Budget]
    spelling: Callable[[str, Version], str]
    levers: Callable[[Launch, Budget], Iterable[tuple[str, Any]]] = lambda launch, budget: ()
    """Settings with the value that is one step away, whose worth `explain` works out."""
    spread: Callable[[Launch], Spread] = _no_spread
    listens: Callable[[Launch], Listening] = _not_listening
    unread: Callable[[str, str], bool] = lambda release, topic: False
    """Whether a release has code of a topic, `memory` or `arguments`, that nobody has read for the rows and formulas."""
    pool_sizes: tuple[str, ...] = ()
    """Settings with which the knob does not size the KV pool alone."""
    fraction_stage: str = "arguments"
    """When a knob above 1 stops the launch."""
