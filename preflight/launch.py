"""What a reader hands on: the launches of a file, as argv tokens with their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from preflight.diagnostics import Problem
from preflight.text import Document, Edit, Located, Place, Text

KNOWN, DEFAULT, UNKNOWN_STATE = "known", "default", "unknown"


class Token(NamedTuple):
    """One word of a command line.

    `value` is None where nothing of the word is known. `at` is the word as written where it is used; `source` is where an
    edit belongs (the same text, or the one literal that a variable was set to); None: it can be shown, not edited.
    """

    value: str | None
    at: Text
    source: Text | None
    state: str = KNOWN
    definition: Place | None = None
    conditional: bool = False

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
