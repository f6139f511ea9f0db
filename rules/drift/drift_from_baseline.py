"""A setting has drifted from the boot that worked, and moves memory.

## What it does
Compares a launch with the boot that `[baseline] log` shows, and says of each setting that differs what it alone would have
made of that boot: how much is left for the KV cache, and whether it would have started.

## Why
"It worked yesterday." A boot log shows every setting as the engine resolved it, automatic ones included. So it also shows
what nobody wrote down: a new release that chooses another memory fraction by itself is drift as much as an edited file.

A warning where the boot would not have started, or would have lost more than a twentieth of its KV cache; else a note.

## Example
`[baseline] log = "good.log"`, where the log shows `mem_fraction_static=0.88` and 10.4 GiB for the KV cache, and the launch
now says 0.55: -20.6 GiB would have been left.

## Fix
Unsafe: sets what the boot had.

## Source
The engine's own arithmetic, as for nonnegative-rest-memory.
"""

from collections.abc import Iterator

from preflight.diagnostics import NOTE, UNSAFE, WARNING, Finding, Fix, Related, Rule, Severity
from preflight.engines.base import Launch
from preflight.memory.budget import Budget
from preflight.rule import rule
from preflight.text import Place
from preflight.units import GIB, gib

META = Rule("DRF002", "drift-from-baseline", WARNING)
_LOSS = 0.05


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    log = launch.tables.get("baseline", {}).get("log")
    if log is None:
        return
    from preflight.drift.baseline import Drift, drift
    from preflight.drift.compare import TOGETHER
    from preflight.drift.render import shown

    found = drift(launch)
    if not isinstance(found, Drift):
        return
    before = found.baseline.budget
    by_name = {one.name: one for one in found.differences}
    for effect in found.changes:
        if effect.what == TOGETHER:
            continue
        one = by_name.get(effect.what)
        was = found.baseline.launch.version.given if one is None else shown(one.a)
        now = shown(effect.value)
        owner = "" if one is None or launch.use(effect.what) is not None else f" ({one.b_by})"
        place = _version_place(launch) if one is None else launch.place(effect.what)
        yield Finding(
            f"{effect.what} is {now} here{owner} and was {was} in the boot of {log.value}: {_effect(before, effect.budget)}. "
            f"{_remedy(effect.what, was, one is not None)}",
            place,
            severity=_severity(before, effect.budget, refused=effect.refused),
            related=(Related(log.place, "the baseline"),),
            fixes=() if one is None else _fixes(launch, effect.what, found.baseline.value(effect.what)),
            data={
                "setting": effect.what,
                "rest_before_gib": None if before.rest is None else before.rest.expected / GIB,
                "rest_gib": None if effect.budget.rest is None else effect.budget.rest.expected / GIB,
            },
        )


def _version_place(launch: Launch) -> Place:
    version = launch.site.version
    return launch.head if version is None else version.place


def _effect(before: Budget, after: Budget) -> str:
    if before.rest is None or after.rest is None:
        return "the KV cache changes"
    text = f"that alone turns {gib(before.rest.expected)} for the KV cache into {gib(after.rest.expected)}"
    if after.starves:
        return f"{text}, with which it would not have started"
    if before.tokens is None or after.tokens is None:
        return text
    return f"{text} ({before.tokens.expected:,.0f} tokens into {max(after.tokens.expected, 0):,.0f})"


def _severity(before: Budget, after: Budget, *, refused: bool) -> Severity:
    if refused or (after.starves and not before.starves):
        return WARNING
    for one, other in ((before.tokens, after.tokens), (before.rest, after.rest)):
        if one is not None and other is not None and one.expected > 0:
            return WARNING if other.expected < (1 - _LOSS) * one.expected else NOTE
    return NOTE


def _remedy(name: str, was: object, flag: bool) -> str:
    if not flag:
        return f"Compare the releases with `preflight diff`, or pin {was}."
    return f"Set it to {was} to have that boot's memory again, or replace the baseline."


def _fixes(launch: Launch, name: str, value: object) -> tuple[Fix, ...]:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ()
    number = float(f"{value:.6g}") if isinstance(value, float) else value
    return launch.fix(name, number, f"Set {name} to {number}, as in the boot that worked", UNSAFE)
