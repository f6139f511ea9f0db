"""A boot as a launch: the settings that the log prints, lowered into the argv tokens that every later step sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from preflight.catalog.load import Catalogue, Flag, load
from preflight.engines.base import Launch
from preflight.engines.registry import find_engine
from preflight.engines.resolve import NO_CONTEXT, Context, resolver
from preflight.engines.steps import OBSERVED
from preflight.engines.versions import parse_version
from preflight.launch import LaunchSite, Token
from preflight.logs.boot import Boot, Figure
from preflight.logs.document import LogDocument
from preflight.memory.budget import Budget
from preflight.records import NamedTuple
from preflight.registry import registry
from preflight.text import Document, Edit, Located, Place, Text
from preflight.units import parse_bytes

KIND = "log"
OBSERVED_KEYS = ("free-before-load", "free-after-load", "weights", "draft-weights", "kv-cache", "graphs", "activations")


class LogLaunch(NamedTuple):
    """A boot, resolved like a launch, with the release that was told or inferred."""

    boot: Boot
    launch: Launch
    budget: Budget


class _NoEditor:
    """A log is not edited."""

    def insert(self, flag: str, values: object) -> Edit | None:
        return None

    def delete(self, first: int, last: int) -> Edit | None:
        return None


@lru_cache(maxsize=2)
def _catalogue(engine: str) -> Catalogue | None:
    try:
        return load(engine)
    except (OSError, ValueError):
        return None


def version_of(boot: Boot) -> tuple[str, str] | None:
    """The oldest and the newest release that the boot can be of: the one that is told, else those whose settings are
    exactly the printed ones."""
    if boot.version is not None and parse_version(boot.version) is not None:
        return boot.version, boot.version
    catalogue = _catalogue(boot.engine)
    if catalogue is None or not boot.resolved or not boot.complete or len(boot.settings) < 100:
        return None
    printed = set(boot.settings)
    fitting: list[tuple[int, str]] = []
    for release in catalogue.releases:
        table = catalogue.at(release)
        fields = set() if table is None else {flag.field for flag in table.flags() if not flag.deprecated}
        if fields and len(fields - printed) <= len(fields) // 100:
            fitting.append((len(fields & printed), release))
    best = max((count for count, _ in fitting), default=0)
    releases = [release for count, release in fitting if count == best]
    return (releases[0], releases[-1]) if releases else None


def model_of(boot: Boot) -> str | None:
    value = boot.settings.get("model_path") or boot.settings.get("model") or boot.settings.get("model_tag")
    return value if isinstance(value, str) else None


def profile_of(boot: Boot, key: str = "") -> str | None:
    """The name under which the catalogue knows the model: the path, or its last part."""
    from preflight.model.types import Model
    from preflight.profiles.find import find_model

    path = boot.settings.get("speculative_draft_model_path") if key else model_of(boot)
    if not isinstance(path, str) or not path:
        return None
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    names = ["/".join(parts[-2:]), parts[-1]] if parts else []
    for part in reversed(parts):
        if part.startswith("models--"):  # a snapshot of the hub's cache
            names.insert(0, part.removeprefix("models--").replace("--", "/"))
    for name in names:
        if not name.startswith((".", "~")) and isinstance(find_model(name, Path("/")), Model):
            return name
    return None


def flags_of(boot: Boot, release: str | None) -> dict[str, Any]:
    """The printed settings that differ from their defaults, by the release's spelling without dashes."""
    catalogue = _catalogue(boot.engine)
    table = None if catalogue is None else catalogue.newest if release is None else catalogue.at(release)
    if table is None:
        return {}
    by_field: dict[str, Flag] = {}
    for flag in table.flags():
        if flag.writes == flag.setting and not flag.deprecated:
            by_field.setdefault(flag.field, flag)
    found: dict[str, Any] = {}
    for name, value in boot.settings.items():
        known = by_field.get(name)
        if known is None or value is None or isinstance(value, dict) or _same(value, known):
            continue
        if isinstance(value, bool) and not (value and known.switch):
            continue
        stable = f"--{known.setting}"
        found[(stable if stable in known.spellings else known.spellings[0])] = value
    return found


@lru_cache(maxsize=8)
def _names(engine: str, release: str) -> Mapping[str, str]:
    """Stable names by the names that the engine prints."""
    catalogue = _catalogue(engine)
    table = None if catalogue is None else catalogue.at(release)
    if table is None:
        return {}
    return {flag.field: flag.setting for flag in table.flags() if flag.writes == flag.setting and not flag.deprecated}


def printed_settings(boot: Boot, release: str) -> dict[str, Any]:
    """What the log shows by stable names; where the engine's flags are not known, by its own names in kebab case."""
    names = _names(boot.engine, release)
    found: dict[str, Any] = {}
    for name, value in boot.settings.items():
        stable = names.get(name) if names else name.replace("_", "-")
        if stable is not None and not isinstance(value, dict):
            found[stable] = value
    return found


def _same(value: Any, flag: Flag) -> bool:
    default = flag.default if flag.default is not None else flag.fallback
    return bool(value == default or (isinstance(value, list | tuple) and not value))


def _tokens(place: Place, flags: Mapping[str, Any]) -> Iterator[Token]:
    for spelling, value in flags.items():
        yield _token(place, spelling)
        if value is not True:
            for each in value if isinstance(value, list | tuple) else [value]:
                yield _token(place, f"{each:.12g}" if isinstance(each, float) else str(each))


def _token(place: Place, word: str) -> Token:
    from preflight.readers.toml_text import fixed

    text: Text = fixed(place.document, place.span, word)
    return Token(word, text, None)


def located(path: str, figure: Figure) -> Located[object]:
    """An amount as if it were written in a launch file, so that its digits say how exact it is."""
    document = Document(path, figure.text)
    return Located(parse_bytes(figure.text), document.place(0, len(figure.text)))


def site_of(boot: Boot, document: LogDocument) -> LaunchSite:
    place = document.place_of_line(boot.settings_line or boot.line)
    versions = version_of(boot)
    version = None if versions is None else versions[1]
    text = Document(document.path, version or "")
    profile, draft = profile_of(boot), profile_of(boot, "draft")
    observed = {
        name: located(document.path, boot.figures[name])
        for name in OBSERVED_KEYS
        if name in boot.figures and boot.figures[name].bytes >= 0
    }
    if "kv-tokens" in boot.counts:
        observed["kv-tokens"] = Located[object](boot.counts["kv-tokens"], place)
    names = {"profile": profile, "draft": draft}
    return LaunchSite(
        document=document,
        kind=KIND,
        head=place,
        engine=boot.engine,
        argv=tuple(_tokens(place, flags_of(boot, version))),
        complete=boot.complete and bool(boot.settings),
        editor=_NoEditor(),
        version=None if version is None else Located(version, text.place(0, len(version))),
        model={key: Located[object](name, place) for key, name in names.items() if name is not None},
        observed=observed if "weights" not in boot.impossible else {},
        name=boot.source or None,
    )


def launch_of(boot: Boot, document: LogDocument, context: Context = NO_CONTEXT) -> LogLaunch | None:
    """The boot as its release resolves it; None for an engine that is not modelled, or a log without settings."""
    engine = find_engine(boot.engine, context.project)
    if engine is None or not boot.settings:
        return None
    resolved = resolver(site_of(boot, document), engine, registry().topics, context)
    launch = resolved.at(resolved.versions)
    given = {use.name for use in launch.uses}
    settings = {
        name: setting._replace(origin=OBSERVED, by=None) if name in given else setting
        for name, setting in launch.settings.items()
    }
    launch = launch._replace(settings=settings)
    budget = engine.budget(launch)
    if launch.hardware is None:  # what comes late hangs on the GPU
        budget = budget._replace(knob=budget.knob._replace(suggested=None, highest=None))
    return LogLaunch(boot, launch, budget)
