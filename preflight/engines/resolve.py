"""From a launch as written to a launch as its engine resolves it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preflight.diagnostics import ERROR, NOTE, WARNING, Finding, Problem
from preflight.engines.base import Engine, Expect, Launch, Observed, VersionChoice
from preflight.engines.steps import UNKNOWN, Row, State, Topic, run_steps
from preflight.engines.versions import VersionSpec, parse_spec, parse_version
from preflight.launch import LaunchSite, Table
from preflight.memory.range import Range, within
from preflight.records import NamedTuple
from preflight.text import Located
from preflight.units import UNITS

if TYPE_CHECKING:
    from preflight.hardware.types import Hardware
    from preflight.model.types import Model

Tables = Mapping[str, Table]


class Context(NamedTuple):
    """What a deployment repository says of its files: tables by name, and the versions that it allows."""

    tables: Tables = {}
    engine_version: Located[str] | None = None
    project: str | None = None
    """The folder whose `.preflight/flags/` adds releases to the flag history."""


class Resolver(NamedTuple):
    """A launch site with all that does not hang on the engine's version, resolved once."""

    site: LaunchSite
    engine: Engine
    tables: Tables
    hardware: Hardware | None
    model: Model | None
    draft: Model | None
    profile_names: Mapping[str, str | None]
    problems: tuple[Problem, ...]
    topics: Sequence[tuple[Row, Topic]]
    versions: VersionChoice

    def at(self, choice: VersionChoice) -> Launch:
        """The launch as the release `choice` resolves it."""
        engine = self.engine
        settings, uses, problems, complete, defaults = engine.parse(self.site, choice.text)
        site = self.site._replace(complete=complete)
        for name, setting in settings.items():
            if setting.given and _beyond_reckoning(setting.value):
                settings[name] = setting._replace(value=UNKNOWN)
        env = {variable.name: variable.token.value for variable in site.env}
        state = State(
            settings,
            version=choice.version,
            hardware=self.hardware,
            model=self.model,
            draft=self.draft,
            env=env,
            complete=site.complete,
        )
        trace = run_steps(state, engine.steps(self.topics, choice.version), defaults)
        for name in COUNTS:
            counted = settings.get(name)
            if counted is not None and isinstance(counted.value, int) and counted.value < 1:
                settings[name] = counted._replace(value=UNKNOWN)
        launch = Launch(
            site,
            engine,
            choice,
            settings,
            tuple(trace),
            uses,
            problems,
            self.hardware,
            self.model,
            self.draft,
            _observed(self.tables.get("observed", {}), choice),
            _expect(self.tables.get("expect", {})),
            self.tables,
            self.profile_names,
            env,
            lambda other: self._replace(site=other).at(choice),
            tuple(state.crashes),
        )
        return launch._replace(spread=engine.spread(launch))


COUNTS = (
    "tp-size",
    "pp-size",
    "dp-size",
    "ep-size",
    "attn-cp-size",
    "attn-dp-size",
    "dcp-size",
    "moe-dp-size",
    "page-size",
    "max-total-tokens",
)
"""Nothing is computed from a count below 1."""


def _beyond_reckoning(value: Any) -> bool:
    """A number that no machine can mean: not finite, or larger than any count of bytes. Nothing is computed from it."""
    return isinstance(value, int | float) and not abs(value) < 1 << 60


NO_CONTEXT = Context()


def resolver(site: LaunchSite, engine: Engine, topics: Sequence[tuple[Row, Topic]], context: Context = NO_CONTEXT) -> Resolver:
    tables = {
        name: {**context.tables.get(name, {}), **getattr(site, name)}
        for name in ("hardware", "model", "observed", "expect", "baseline")
    }
    problems: list[Problem] = []
    hardware, hardware_name = _hardware(tables["hardware"], problems)
    model, model_name = _model(tables["model"].get("profile"), problems)
    draft, draft_name = _model(tables["model"].get("draft"), problems)
    names = {"hardware": hardware_name, "model": model_name, "draft": draft_name}
    versions, version_problem = choose_version(site, engine, context)
    if version_problem is not None:
        problems.append(version_problem)
    return Resolver(site, engine, tables, hardware, model, draft, names, tuple(problems), topics, versions)


def choose_version(site: LaunchSite, engine: Engine, context: Context) -> tuple[VersionChoice, Problem | None]:
    """The release that judges a launch. Not given: the newest that the project allows, memory capped at warning."""
    located = site.version or context.engine_version
    releases = engine.releases()
    if not releases:
        return _without_history(located), None
    spec = None if located is None else parse_spec(located.value)
    if located is not None and spec is None:
        finding = Finding(
            f"{located.value!r} is no version of {engine.title}. Write a release such as {releases[-1]}, or a range such as "
            f">={releases[-1]}.",
            located.place,
        )
        return _any_release(releases, None), Problem("VER001", finding)
    if spec is not None and spec.exact is not None:
        spec = _series(spec, releases) or spec
    if located is None or spec is None or spec.exact is None:
        return _any_release(releases, spec), None
    return _exact(spec, located, engine, releases)


def _series(spec: VersionSpec, releases: Sequence[str]) -> VersionSpec | None:
    """What `0.5` means where no release has that name: any release of 0.5."""
    number = spec.text.lstrip("v")
    if re.fullmatch(r"\d+\.\d+", number) is None or f"{number}.0" in releases or number in releases:
        return None
    series = parse_spec(f"{number}.*")
    held = series is not None and any(series.holds(parse_version(text) or ()) for text in releases)
    return series if held else None


def _without_history(located: Located[str] | None) -> VersionChoice:
    """For an engine of whose releases nothing is known, so that no finding hangs on one."""
    version = None if located is None else parse_version(located.value)
    given = None if located is None or version is None else located.value.strip().lstrip("=v ")
    return VersionChoice(version or (), given or "", given, ERROR, known=False)


def _any_release(releases: Sequence[str], spec: VersionSpec | None) -> VersionChoice:
    allowed = [text for text in releases if spec is None or spec.holds(parse_version(text) or ())] or [releases[-1]]
    newest = allowed[-1]
    return VersionChoice(parse_version(newest) or (), newest, None, WARNING, tuple(allowed[:-1]))


def _exact(
    spec: VersionSpec, located: Located[str], engine: Engine, releases: Sequence[str]
) -> tuple[VersionChoice, Problem | None]:
    version = spec.exact
    assert version is not None
    given = located.value.strip().lstrip("=v ")
    numbered = [(parse_version(text) or (), text) for text in releases]
    at_or_below = [(number, text) for number, text in numbered if number <= version]
    if version < numbered[0][0]:
        finding = Finding(
            f"{engine.title} {given} is older than the first release that is known here, {releases[0]}: its flags are not "
            "judged, and memory findings are warnings at most.",
            located.place,
            NOTE,
        )
        return VersionChoice(version, releases[0], given, WARNING, flag_cap=WARNING, known=False), Problem("VER002", finding)
    if version > numbered[-1][0]:
        finding = Finding(
            f"{engine.title} {given} is newer than the newest release that is known here, {releases[-1]}, whose rules are "
            "applied; findings are warnings at most.",
            located.place,
        )
        return VersionChoice(version, releases[-1], given, WARNING, flag_cap=WARNING), Problem("VER002", finding)
    release = at_or_below[-1][1]
    # Between two releases that were read, each row says for itself what holds; beyond the last, someone has to look first.
    beyond = version > engine.read[-1]
    memory, arguments = (WARNING if beyond and engine.unread(release, topic) else ERROR for topic in ("memory", "arguments"))
    return VersionChoice(version, release, given, memory, argument_cap=arguments), None


def _folder(located: Located[object]) -> str:
    """A path is relative to the file that gives it: the linted one, or the settings."""
    return os.path.dirname(located.place.path) or os.curdir


def _hardware(table: Table, problems: list[Problem]) -> tuple[Hardware | None, str | None]:
    from preflight.profiles.find import find_hardware

    if not table:
        return None, None
    from preflight.hardware.types import Hardware

    found: Hardware | None = None
    name = None
    for key in ("profile", "gpu"):
        located = table.get(key)
        if located is None:
            continue
        result = find_hardware(str(located.value), _folder(located))
        name = name or str(located.value)
        if isinstance(result, Hardware):
            found = result if found is None else found._replace(**_known(result, but="count", nodes=found.nodes))
        else:
            problems.append(_profile_problem(located, result, "hardware"))
    given: dict[str, Any] = {
        field: located.value
        for key, located in table.items()
        if key not in ("profile", "gpu") and (field := key.replace("-", "_")) in Hardware._fields
    }
    return (found or Hardware(gpu=name))._replace(**given), name


def _known(hardware: Hardware, but: str, **fixed: object) -> dict[str, Any]:
    return {key: value for key, value in hardware._asdict().items() if value is not None and key != but} | fixed


def _model(located: Located[object] | None, problems: list[Problem]) -> tuple[Model | None, str | None]:
    if located is None:
        return None, None
    from preflight.model.types import Model
    from preflight.profiles.find import find_model

    name = str(located.value)
    result = find_model(name, _folder(located))
    if isinstance(result, Model):
        return result, result.name
    problems.append(_profile_problem(located, result, "model"))
    return None, name


def _profile_problem(located: Located[object], result: object, kind: str) -> Problem:
    """A bare name that is not found is a note; a path that leads nowhere or to a broken file is an error."""
    from preflight.profiles.results import Broken

    if isinstance(result, Broken):
        return Problem("CFG005", Finding(result.message, located.place, ERROR))
    near = getattr(result, "near", ())
    remedy = (
        f"Did you mean {near[0]}?" if near else f"`preflight profile list` shows the names; `preflight profile {kind}` makes one."
    )
    message = f"The {kind} profile {str(located.value)!r} is not in the catalogue, so nothing is known of it. {remedy}"
    return Problem("CFG005", Finding(message, located.place, NOTE, data={"nearest": list(near)}))


_DECIMALS = r"\d[\d_]*(?:\.(\d*))?(?:[eE]([+-]?\d+))?\s*([A-Za-z]+)"


def of_another_release(table: Table, choice: VersionChoice) -> str | None:
    """The release that measured, where it is not the launch's: its figures are not used."""
    located = table.get("engine-version")
    measured = None if located is None else parse_version(str(located.value))
    if measured is None or choice.given is None or measured[:3] == choice.version[:3]:
        return None
    return str(located.value) if located is not None else None


def _observed(table: Table, choice: VersionChoice) -> Observed:
    """Measured figures; a list gives one value per rank, and the engine takes the least. Their rounding is the bound."""

    if of_another_release(table, choice) is not None:
        return Observed()

    def least(key: str) -> Range | None:
        located = table.get(key)
        if located is None:
            return None
        values = located.value if isinstance(located.value, tuple | list) else (located.value,)
        amounts = [float(value) for value in values if isinstance(value, int | float)]
        if not amounts:
            return None
        slack = _half_step(located)
        return within(min(amounts) - slack, min(amounts), min(amounts) + slack)

    kv_tokens = table.get("kv-tokens")
    return Observed(
        least("free-before-load"),
        least("free-after-load"),
        least("weights"),
        least("draft-weights"),
        int(kv_tokens.value) if kv_tokens is not None and isinstance(kv_tokens.value, int) else None,
        least("kv-cache"),
        least("graphs"),
        least("activations"),
    )


def _half_step(located: Located[object]) -> float:
    """Half of the last digit as written, in bytes: 94.0 GiB is known to 0.05 GiB."""
    place = located.place
    steps = []
    for match in re.finditer(_DECIMALS, place.document.text[place.span.start : place.span.end]):
        size = UNITS.get(match[3].lower(), 1)
        step = size * float(f"1e{match[2] or 0}") * float(f"1e-{len(match[1] or '')}")
        steps.append(step if step < UNITS["tib"] else 0.0)  # 0e99 GiB is 0
    return max(steps, default=0.0) / 2


def _expect(table: Table) -> Expect:
    def number(key: str) -> int | None:
        located = table.get(key)
        return located.value if located is not None and isinstance(located.value, int) else None

    return Expect(number("kv-tokens"), number("context-length"), number("concurrent-requests"))
