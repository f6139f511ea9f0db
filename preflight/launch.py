"""What a reader hands on: the launches of a file, as argv tokens with their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from preflight.diagnostics import Problem
from preflight.records import NamedTuple
from preflight.text import Document, Edit, Located, Place, Text

KNOWN, DEFAULT, UNKNOWN_STATE, OPAQUE = "known", "default", "unknown", "opaque"
"""KNOWN: as written. DEFAULT: a default that may be overridden from outside the file. UNKNOWN_STATE: exactly one word, of
which at most a part is known. OPAQUE: any number of words, perhaps none (`$EXTRA_ARGS`, `"$@"`); its launch is not complete."""


class Token(NamedTuple):
    """One word of a command line.

    `value` is None unless the whole word is known (KNOWN or DEFAULT), so a partly known word can never be taken for a known
    one. What is known of such a word is in `pattern`: its text with each unknown piece as `${name}` (`${}` where it has no
    name), as in `--port=${PORT}` or `/models/${NAME}/Qwen3-8B`. `at` is the word as written where it is used; `source` is where
    an edit belongs (the same text, or the one literal that a variable was set to); None: it can be shown, not edited.
    `conditional`: whether the word is there at all depends on something; its value does not.
    """

    value: str | None
    at: Text
    source: Text | None
    state: str = KNOWN
    definition: Place | None = None
    conditional: bool = False
    pattern: str | None = None

    @property
    def text(self) -> str:
        """The word for a message: its value, else what is known of it."""
        if self.value is not None:
            return self.value
        return self.pattern if self.pattern is not None else self.at.value

    @property
    def place(self) -> Place:
        return self.at.place

    def replace(self, new: str) -> Edit | None:
        """The only maker of edits to a word: None where the edit would not decode back to `new`."""
        if self.source is None or self.conditional:
            return None
        return self.source.replace_all(new)


def token(text: Text) -> Token:
    """A literal word: known, edited where it stands."""
    return Token(text.value, text, text)


def flag_index(argv: Sequence[Token], value: int) -> int:
    """The word of the flag that the word at `value` belongs to: itself, or the last flag before it."""
    for index in range(value, -1, -1):
        if (argv[index].value or "").startswith("--"):
            return index
    return value


class Editor(Protocol):
    """How flags are added to and taken from a launch, in its own syntax."""

    def insert(self, flag: str, values: Sequence[str]) -> Edit | None:
        """Add `flag` (as on the command line, with dashes) with `values` (none: a bare switch) to the launch."""

    def delete(self, first: int, last: int) -> Edit | None:
        """Take tokens `first` to `last` (inclusive) out of the launch, with what continues their line."""


class EnvVar(NamedTuple):
    name: str
    token: Token
    name_place: Place


Table = Mapping[str, Located[object]]


class Port(NamedTuple):
    """A port by which something reaches a launch. `by`: `containerPort`, `probe`, `Service` or `ports` (published)."""

    number: int
    place: Place
    by: str
    name: str | None = None


class Surroundings(NamedTuple):
    """What the file says of the place where a launch runs."""

    ports: tuple[Port, ...] = ()
    services: tuple[Located[str], ...] = ()
    """Kubernetes Services whose addresses are put into the environment of every pod."""
    devices: Located[tuple[str, ...]] | None = None
    """Which GPUs of the machine it sees, by their numbers."""
    sees_only_its_gpus: bool = True
    """False where it may see more than it asks for."""
    on_host_network: bool = False
    alone: bool = True
    """Whether nothing else runs beside it in its pod."""
    certain: bool = True
    """False where it need not run together with the file's other launches: a branch, a function, a compose profile."""
    stays: bool = False
    """Whether it keeps running while the file's other launches start."""
    swallowed: tuple[Located[str], ...] = ()
    """Variables that a shell script sets itself and compose fills in before the shell sees them."""


NOWHERE_SPECIAL = Surroundings()


class LaunchSite(NamedTuple):
    """One launch as written. `complete` is False when an opaque tail may add flags that cannot be seen."""

    document: Document
    kind: str
    head: Place
    engine: str | None
    argv: tuple[Token, ...]
    complete: bool
    editor: Editor
    env: tuple[EnvVar, ...] = ()
    version: Located[str] | None = None
    image: Located[str] | None = None
    gpus: Located[int] | None = None
    """GPUs requested for one replica on one node."""
    hardware: Table = {}
    model: Table = {}
    observed: Table = {}
    expect: Table = {}
    baseline: Table = {}
    name: str | None = None
    """What tells this launch from others of the same file: a service, a container, a `name` key."""
    entry: Located[str] | None = None
    """What is started: `sglang.launch_server`, `sglang serve`, `vllm serve`, `vllm.entrypoints.openai.api_server`,
    `dynamo.sglang`, `dynamo.vllm` (these two take flags of their own besides the engine's), `image` (its own entrypoint, which
    gets `argv`), or `image + vllm serve` where a command is handed to an image whose entrypoint already is the server."""
    around: Surroundings = NOWHERE_SPECIAL
    extent: Place | None = None
    """The whole table, list or command, which a suppression above it covers."""


class Suppression(NamedTuple):
    """`# preflight: ignore[CODES] reason`: what it covers, None for the whole file."""

    codes: tuple[Located[str], ...]
    covers: Place | None
    at: Place


class Reading(NamedTuple):
    """All that a reader has to say of one document."""

    sites: tuple[LaunchSite, ...]
    problems: tuple[Problem, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
