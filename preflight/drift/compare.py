"""Differences of two sides, and what each of them does to the memory ledger of the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from preflight.drift.sides import Side
from preflight.engines.base import Launch
from preflight.engines.resolve import Context, resolver
from preflight.engines.steps import DIES, REFUSES, UNKNOWN
from preflight.memory.budget import Budget
from preflight.records import NamedTuple
from preflight.registry import registry
from preflight.text import Document, Located

_IDENTITY = (
    "model-path",
    "model",
    "model-tag",
    "tokenizer-path",
    "tokenizer",
    "served-model-name",
    "host",
    "port",
    "nccl-port",
    "dist-init-addr",
    "node-rank",
    "random-seed",
    "seed",
    "log-level",
    "log-level-http",
    "download-dir",
    "config",
)
"""Settings that say which server it is, not how it runs."""
TOGETHER = "all together"
_SECRET = ("key", "token", "password", "secret")


class Difference(NamedTuple):
    """A setting that differs. `a_by` and `b_by` say who set it."""

    name: str
    a: Any
    a_by: str
    b: Any
    b_by: str


class Effect(NamedTuple):
    """What one difference, laid upon A alone, makes of A's ledger. `refused`: the engine would not take it."""

    what: str
    value: Any
    budget: Budget
    refused: bool = False


def differences(a: Side, b: Side) -> list[Difference]:
    """Settings known on both sides that differ; those that somebody set come first."""
    if a.launch.engine.name != b.launch.engine.name:
        return []
    names = sorted({*a.launch.settings, *b.launch.settings, *a.printed, *b.printed})
    found = [one for name in names if name not in _IDENTITY and (one := _difference(a, b, name)) is not None]
    given = {one.name for one in found if _written(a, one.name) or _written(b, one.name)}
    return [one for one in found if one.name in given] + [one for one in found if one.name not in given]


def _written(side: Side, name: str) -> bool:
    setting = side.launch.settings.get(name)
    return setting is not None and setting.given


def _difference(a: Side, b: Side, name: str) -> Difference | None:
    left, right = a.value(name), b.value(name)
    if left is UNKNOWN or right is UNKNOWN or _alike(left, right):
        return None
    resolved = any(side.boot is not None and side.boot.resolved for side in (a, b))
    for value, side in ((left, a), (right, b)):
        if value is None and not side.given(name) and resolved:
            return None  # chosen by the engine at run time, in a way that is not modelled
    if isinstance(left, dict) or isinstance(right, dict):
        return None
    return Difference(name, _shown(name, left), by(a, name), _shown(name, right), by(b, name))


def _shown(name: str, value: Any) -> Any:
    secret = any(word in name for word in _SECRET) and isinstance(value, str)
    return "(not shown)" if secret else value


def _alike(left: Any, right: Any) -> bool:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= 5e-7 * max(abs(left), abs(right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return list(left) == list(right)
    return bool(left == right) or str(left).lower() == str(right).lower()


def by(side: Side, name: str) -> str:
    """Who set it, in words."""
    setting = side.launch.settings.get(name)
    if side.boot is not None and (name in side.printed or (setting is not None and setting.origin == "observed")):
        if not side.boot.resolved:
            return "log, command line"
        automatic = side.launch.without(name)
        value = None if automatic is None else automatic.value(name)
        own = value is not None and value is not UNKNOWN and _alike(_rounded(value), _rounded(side.value(name)))
        return "log, automatic" if own and automatic is not None and automatic.hardware is not None else "log"
    if setting is None or setting.value is None:
        return "unset"
    if setting.place is not None:
        return f"line {setting.place.document.lines.position(setting.place.span.start)[0]}"
    return {"engine-default": "engine default", "model-override": "automatic, for this model"}.get(setting.origin, setting.origin)


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def effects(a: Side, b: Side, found: list[Difference]) -> Iterator[Effect]:
    """Each difference laid upon A alone, where it moves A's ledger; then the release; last all of them together."""
    together: Launch | None = a.launch
    moved = 0
    for one in found:
        value = b.value(one.name)
        changed = _with(a.launch, one.name, value)
        together = None if together is None else _with(together, one.name, value)
        if changed is None:
            continue
        budget = changed.engine.budget(changed)
        if _moves(a.budget, budget):
            moved += 1
            yield Effect(one.name, one.b, budget, _refused(changed, a.launch))
    version = b.launch.version
    if a.launch.engine.name != b.launch.engine.name:
        return
    if version.text != a.launch.version.text and version.given is not None:
        other = at_version(a.launch, version.given)
        together = None if together is None else at_version(together, version.given)
        if other is not None:
            moved += 1
            yield Effect("engine-version", version.given, other.engine.budget(other), _refused(other, a.launch))
    if together is not None and moved > 1:
        yield Effect(TOGETHER, None, together.engine.budget(together), _refused(together, a.launch))


def _with(launch: Launch, name: str, value: Any) -> Launch | None:
    """None where the value cannot be given on a command line."""
    if value is None:
        return launch.without(name) or (launch if launch.use(name) is None else None)
    if isinstance(value, list | tuple | dict):
        return None
    return launch.with_setting(name, value)


def at_version(launch: Launch, version: str) -> Launch | None:
    """The same command line, judged as another release."""
    text = Document(launch.site.document.path, version)
    measured = {key: value for key, value in launch.tables.get("observed", {}).items() if key != "engine-version"}
    site = launch.site._replace(version=Located(version, text.place(0, len(version))), observed=measured)
    tables = {**launch.tables, "observed": measured}  # the question is what that release makes of the same figures
    resolved = resolver(site, launch.engine, registry().topics, Context(tables))
    return resolved.at(resolved.versions)


def _refused(launch: Launch, before: Launch) -> bool:
    return bool(_refusals(launch) - _refusals(before))


def _refusals(launch: Launch) -> set[str]:
    return {event.row.id for event in launch.trace if event.row.effect in (REFUSES, DIES)}


def _moves(before: Budget, after: Budget) -> bool:
    pairs = ((before.rest, after.rest), (before.tokens, after.tokens), (before.late, after.late))
    return any(
        one is not None and other is not None and abs(one.expected - other.expected) > 1e-4 * max(abs(one.expected), 1)
        for one, other in pairs
    )


def telling(a: Side, b: Side, found: list[Difference], moved: list[Effect]) -> tuple[list[Difference], int]:
    """The differences that somebody made or that move memory, and how many others there are: defaults of another release."""
    moving = {one.what for one in moved}
    kept = [one for one in found if one.name in moving or a.given(one.name) or b.given(one.name)]
    return kept, len(found) - len(kept)


def culprits(a: Side, moved: list[Effect]) -> list[Effect]:
    """Differences each of which alone keeps A from starting, where A does start."""
    if a.budget.starves or a.fails:
        return []
    return [one for one in moved if one.what != TOGETHER and (one.refused or one.budget.starves)]


class Unseen(NamedTuple):
    """What the two sides do not show, and the command that tells."""

    what: str
    command: str


def unseen(a: Side, b: Side) -> list[Unseen]:
    engine = a.launch.engine.name
    env = [side.boot.env if side.boot is not None else {} for side in (a, b)]
    found: list[Unseen] = []
    if any(side.launch.version.given is None for side in (a, b)):
        found.append(Unseen("the engine's version", f"pip show {engine} | grep -i ^version"))
    if not all("driver" in one for one in env):
        found.append(Unseen("the driver", "nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader"))
    found.append(
        Unseen(
            "CUDA, NCCL and torch versions",
            'python3 -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.nccl.version())"',
        )
    )
    found.append(Unseen("the environment", "env | grep -E '^(SGLANG|SGL|VLLM|NCCL|CUDA|TORCH|PYTORCH|FLASHINFER)_' | sort"))
    found.append(
        Unseen(
            "leftovers of earlier processes", "nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv"
        )
    )
    return found


def environments(a: Side, b: Side) -> list[tuple[str, str | None, str | None]]:
    """Variables that both sides could show and that differ; of a log only what it happens to name."""
    left, right = _environment(a), _environment(b)
    names = sorted({*left, *right})
    return [(name, left.get(name), right.get(name)) for name in names if left.get(name) != right.get(name)]


def _environment(side: Side) -> dict[str, str]:
    if side.boot is not None:
        return {name: value for name, value in side.boot.env.items() if not any(word in name.lower() for word in _SECRET)}
    return {name: value or "?" for name, value in side.launch.env.items() if not any(word in name.lower() for word in _SECRET)}
