"""One side of a comparison: a launch of a file, or a boot of a log resolved like one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preflight.diagnostics import Diagnostic, Severity
from preflight.engines.base import Launch
from preflight.engines.resolve import NO_CONTEXT, Context
from preflight.engines.steps import OBSERVED, UNKNOWN
from preflight.launch import Table
from preflight.lint import Resolved
from preflight.logs.boot import FAILED, STARTED, Boot
from preflight.logs.document import document_of
from preflight.logs.lint import lint_boots
from preflight.logs.site import launch_of, model_of, printed_settings, profile_of, version_of
from preflight.memory.budget import Budget
from preflight.records import NamedTuple


class Side(NamedTuple):
    """`printed` are the settings that a log shows, by their stable names; `found` are errors and warnings."""

    path: str
    line: int
    launch: Launch
    budget: Budget
    boot: Boot | None = None
    printed: Mapping[str, Any] = {}
    found: tuple[Diagnostic, ...] = ()

    @property
    def outcome(self) -> str:
        """started, failed, cut; of a launch file: fails, or predicted to start."""
        if self.boot is not None:
            return {STARTED: "started", FAILED: "failed"}.get(self.boot.outcome, "log ends early")
        return "fails" if self.fails else "to be started"

    @property
    def fails(self) -> bool:
        return any(one.severity is Severity.ERROR and one.stage is not None for one in self.found)

    def value(self, name: str) -> Any:
        """As the log prints it, else as it resolves; None, False and empty lists are all "unset"."""
        if name in self.printed:
            value = self.printed[name]
        elif self.boot is not None and not self.boot.resolved and self.boot.complete:
            value = self.launch.known(name)  # the whole command line is there: what it does not give is not given
        else:
            value = self.launch.value(name)
        return None if value is not UNKNOWN and (value is False or value in ([], (), {}, "")) else value

    def given(self, name: str) -> bool:
        """Whether somebody set it: on the command line, or as a log shows what came out."""
        setting = self.launch.settings.get(name)
        return name in self.printed or (setting is not None and (setting.given or setting.origin == OBSERVED))


def of_resolved(resolved: Resolved) -> Side:
    launch = resolved.launch
    line, _ = launch.site.document.lines.position(launch.head.span.start)
    found = tuple(one for one in resolved.diagnostics if one.severity > Severity.NOTE)
    return Side(launch.site.document.path, line, launch, resolved.budget, None, {}, found)


def of_boot(path: str, boot: Boot, other: Launch | None = None) -> Side | None:
    """A boot. What a log does not show, the machine and the model's profile, is taken from the other side, if it is the same
    model. None for an engine that is not modelled, or a log without settings."""
    document = document_of(path, [boot.excerpts])
    context = context_of(boot, other)
    one = launch_of(boot, document, context)
    if one is None:
        return None
    found = lint_boots(path, [boot], context).diagnostics
    return Side(
        path,
        boot.line,
        one.launch,
        one.budget,
        boot,
        printed_settings(boot, one.launch.version.text),
        tuple(each for each in found if each.severity > Severity.NOTE),
    )


def context_of(boot: Boot, other: Launch | None) -> Context:
    if other is None:
        return NO_CONTEXT
    tables: dict[str, Table] = {"hardware": other.tables.get("hardware", {})}
    if same_model(boot, other) is not False:
        tables["model"] = other.tables.get("model", {})
    version = other.site.version if version_of(boot) is None else None
    return Context(tables, version)


def same_model(boot: Boot, other: Launch) -> bool | None:
    """None where one of the two is not known."""
    from pathlib import Path

    from preflight.profiles.find import find_model

    logged = profile_of(boot)
    own = other.profile_names.get("model")
    if logged is None or own is None or other.model is None:
        path = other.known("model-path") or other.known("model")
        return model_of(boot) == path if path is not None and model_of(boot) is not None else None
    return getattr(find_model(logged, Path("/")), "name", None) == own
