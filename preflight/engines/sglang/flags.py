"""SGLang's command line, read by the catalogue of its flags."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from preflight.catalog.argparse_model import Problem
from preflight.catalog.argparse_model import parse as read_words
from preflight.catalog.features import SERVE_POSITIONAL
from preflight.catalog.load import Catalogue, Flag, FlagTable, Successor, load
from preflight.catalog.values import UNKNOWN as NOT_READ
from preflight.engines.base import FlagProblem, FlagUse, Parsing
from preflight.engines.steps import ENGINE_DEFAULT, FILE, INLINE_DEFAULT, NOT_KNOWN, UNKNOWN, Setting
from preflight.engines.versions import Version
from preflight.launch import DEFAULT, LaunchSite, Token, flag_index
from preflight.text import Place, Span


@lru_cache(maxsize=8)
def catalogue(project: str | None = None) -> Catalogue:
    """The shipped history, with the releases that a project added."""
    return load("sglang", project)


def releases(project: str | None = None) -> Sequence[str]:
    return catalogue(project).releases


@lru_cache(maxsize=16)
def table(release: str, project: str | None = None) -> FlagTable:
    found = catalogue(project).at(release)
    assert found is not None
    return found


def spelling(name: str, version: Version, project: str | None = None) -> str:
    """The flag of a setting in a release, with dashes."""
    flag = table(release_text(version), project).flag(name)
    return f"--{name}" if flag is None else preferred(flag)


def preferred(flag: Flag) -> str:
    """The spelling that is the setting's stable name, where this release has it; else its first."""
    stable = f"--{flag.setting}"
    return stable if stable in flag.spellings else flag.spellings[0]


def release_text(version: Version) -> str:
    text = ".".join(map(str, version[:3]))
    return f"{text}.post{version[3]}" if len(version) > 3 and version[3] >= 0 else text


_SIZES = ("tp-size", "pp-size", "dp-size", "dcp-size", "gpu-id-step")
"""One where a release has no such flag yet."""


_SUPPRESSED = "==SUPPRESS=="
"""The default of an old spelling that sets nothing where it is not given."""


@lru_cache(maxsize=128)
def defaults(release: str, project: str | None = None) -> dict[str, Setting]:
    """What a release takes where nothing is given; None and False are left out."""
    found = {}
    for flag in table(release, project).flags():
        value = flag.default if flag.default is not None else flag.fallback
        if value not in (None, False, _SUPPRESSED) and flag.writes == flag.setting:
            found[flag.setting] = Setting(value, ENGINE_DEFAULT, None, preferred(flag))
    for name in _SIZES:
        found.setdefault(name, Setting(1, ENGINE_DEFAULT))
    return found


def parse(site: LaunchSite, release: str, project: str | None = None) -> Parsing:
    """The command line as the release's own parser reads it. A file that `--config` names may add flags."""
    flags = table(release, project)
    serves = site.entry is not None and site.entry.value == "sglang serve"
    parsed = read_words(site.argv, flags, complete=site.complete, serve_positional=serves and SERVE_POSITIONAL in flags.features)
    starts_from = defaults(release, project)
    settings = dict(starts_from)
    uses = []
    complete = parsed.complete
    for occurrence in parsed.occurrences:
        flag = occurrence.flag
        complete = complete and flag.dest != "config"
        last = max([occurrence.at, *occurrence.values])
        value = _value(occurrence.value)
        words = site.argv[occurrence.at : last + 1]
        origin = INLINE_DEFAULT if any(word.state == DEFAULT for word in words) else FILE
        if any(word.conditional for word in words):  # it may be given or not
            value, origin, complete = UNKNOWN, NOT_KNOWN, False
        settings[flag.writes] = Setting(value, origin, _place(site, occurrence.at, last), preferred(flag))
        attached = occurrence.values == (occurrence.at,) and bool(occurrence.typed)
        uses.append(FlagUse(flag.setting, occurrence.typed or occurrence.spelling, value, occurrence.at, last, attached))
    problems = tuple(_problem(problem, flags, site) for problem in parsed.problems if _speaks(problem, site, complete=complete))
    return Parsing(settings, tuple(uses), problems, complete, starts_from)


def _value(value: object) -> Any:
    """With the catalogue's unknown as ours; of several values one unknown makes all so."""
    if value is NOT_READ or (isinstance(value, tuple) and NOT_READ in value):
        return UNKNOWN
    return list(value) if isinstance(value, tuple) else value


def _place(site: LaunchSite, first: int, last: int) -> Place:
    start, end = site.argv[first].place, site.argv[last].place
    if start.document is not end.document or end.span.end < start.span.start:
        return start
    return Place(start.document, Span(start.span.start, end.span.end))


def _speaks(problem: Problem, site: LaunchSite, *, complete: bool) -> bool:
    """A launch file names its model in a table of its own; Dynamo's programs take flags of their own."""
    if problem.kind in ("wrong-type", "not-a-choice") and _is_placeholder(site.argv[problem.at]):
        return False
    if problem.kind in _OF_TWO_WORDS and any(site.argv[index].conditional for index in _words(problem)):
        return False
    if problem.kind == "missing-required":
        return complete and site.kind != "toml"
    if site.entry is not None and site.entry.value.startswith("dynamo") and problem.flag is None:
        return False
    return problem.kind != "help"


_OF_TWO_WORDS = ("duplicate", "unexpected-value", "missing-value", "stray-positional")
"""Problems of words that need not be there together: one may be in a branch, the other in its `else`."""


def _words(problem: Problem) -> list[int]:
    last = problem.data.get("last")
    return [problem.at, *problem.words, *([last] if isinstance(last, int) else [])]


def _is_placeholder(word: Token) -> bool:
    """An empty default, or a value under a condition, which is there to be overridden or tested."""
    return word.conditional or (word.state == DEFAULT and not word.value)


def _as_typed(problem: Problem, site: LaunchSite) -> str:
    """The flag as it is written; its first spelling where that cannot be seen."""
    written = (site.argv[flag_index(site.argv, min(problem.words))].value or "").partition("=")[0] if problem.words else ""
    if problem.flag is None or written in problem.flag.spellings:
        return written if problem.flag is not None else ""
    return problem.flag.spellings[0]


def _of_another_engine(typed: str, flags: FlagTable) -> Successor | None:
    from preflight.engines.sglang.foreign import FOREIGN

    found = FOREIGN.get("--" + typed.lstrip("-").replace("_", "-"))
    if found is None or not found.argv or found.argv[0] in flags.spellings:
        return found
    history = flags.history(found.argv[0])
    if history is None or not flags.is_before(history.added_in):
        return None
    return Successor("gone", (), {}, f"SGLang has {found.argv[0]} for this since {history.added_in}.")


def _problem(problem: Problem, flags: FlagTable, site: LaunchSite) -> FlagProblem:
    words = problem.words or (problem.at,)
    typed = str(problem.data.get("typed") or _as_typed(problem, site))
    first, last = (min(words), max(words)) if problem.words else (-1, -1)
    if problem.kind in ("unknown", "removed", "too-new", "ambiguous", "stray-positional", "unexpected-value"):
        last = first
    history = flags.history(typed)
    successor = flags.successor(typed) or (_of_another_engine(typed, flags) if problem.kind == "unknown" else None)
    kind = "removed" if problem.kind == "ambiguous" and history is not None else problem.kind
    return FlagProblem(
        kind,
        first,
        last,
        typed,
        problem.data,
        added=None if history is None else history.added_in,
        removed=None if history is None else history.removed_since,
        deprecated=None if history is None else history.deprecated_since,
        successor_kind=None if successor is None else successor.kind,
        successor=() if successor is None else successor.argv,
        successor_values={} if successor is None else successor.values,
        note="" if successor is None else successor.note,
        ever=problem.kind != "unknown" or flags.begins_ever(typed),
    )
