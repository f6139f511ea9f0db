"""What the parser of shell yields: simple commands and assignments, each with the branch in which it stands."""

from __future__ import annotations

from preflight.readers.shellwords import Word
from preflight.records import NamedTuple

Branch = tuple[tuple[int, int], ...]
"""The branches around a statement, outermost first: (which construct, which of its arms)."""


class Heredoc(NamedTuple):
    start: int
    end: int
    quoted: bool
    strip_tabs: bool


class Assignment(NamedTuple):
    """`name=value` or `name=(items)`; without both: set to something that only a run can tell."""

    name: str
    start: int
    branch: Branch
    value: Word | None = None
    items: tuple[Word, ...] | None = None
    append: bool = False
    exported: bool = False


class Command(NamedTuple):
    words: tuple[Word, ...]
    prefix: tuple[Assignment, ...]
    branch: Branch
    start: int
    end: int
    heredocs: tuple[Heredoc, ...]


class Program(NamedTuple):
    commands: tuple[Command, ...]
    assignments: tuple[Assignment, ...]
    functions: frozenset[int]
    """Constructs of branches that are function bodies."""
    barriers: tuple[int, ...] = ()
    """Where a command may set any variable: `source FILE`, `eval "$(…)"`."""
