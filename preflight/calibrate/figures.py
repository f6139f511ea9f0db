"""Which figures of a boot may be used, and for which launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from preflight.engines.base import Launch
from preflight.engines.steps import UNKNOWN
from preflight.engines.versions import parse_version
from preflight.logs.boot import AFTER, BEFORE, DRAFT, FAILED, KV_CACHE, WEIGHTS, Boot
from preflight.logs.document import LogDocument
from preflight.logs.site import OBSERVED_KEYS, launch_of, printed_settings, profile_of, version_of
from preflight.profiles.find import find_model
from preflight.records import NamedTuple


class Entry(NamedTuple):
    """One key of [observed], its value in TOML, and the line it was read from."""

    key: str
    value: str
    line: int


class Calibration(NamedTuple):
    """What a boot gives. `notes` say what was left out, and why."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


_LOAD = (BEFORE, AFTER, WEIGHTS, DRAFT)
_PLACEMENT = (
    "tp-size",
    "pp-size",
    "ep-size",
    "dp-size",
    "enable-dp-attention",
    "quantization",
    "speculative-algorithm",
    "tensor-parallel-size",
    "pipeline-parallel-size",
)
"""Settings on which the memory of the weights hangs."""
_POOL = ("mem-fraction-static", "gpu-memory-utilization", "kv-cache-dtype", "max-total-tokens", "page-size")
"""Settings on which the size of the pool hangs."""


def choose_boot(boots: Sequence[Boot], line: int | None = None) -> Boot | None:
    """The boot that prints `line`; without it the last that started with figures, else the last that has any."""
    if line is not None:
        return next((boot for boot in reversed(boots) if boot.line <= line), None)
    measured = [boot for boot in boots if boot.figures]
    started = [boot for boot in measured if boot.outcome != FAILED]
    return (started or measured or [None])[-1]  # type: ignore[list-item]


def calibration(boot: Boot) -> Calibration:
    """All figures of the boot that can be true."""
    entries: list[Entry] = []
    notes: list[str] = []
    impossible = boot.impossible
    if impossible:
        name, figure = next(iter(impossible.items()))
        what = f"{name} of {figure.text}" if figure.bytes < 0 else f"{figure.text} free after loading, more than before it"
        notes.append(
            f"Line {figure.line} shows {what}: another process released memory meanwhile, so the figures of loading are left "
            f"out. "
            "Boot it alone on its GPUs and calibrate again."
        )
    for key in OBSERVED_KEYS:
        found = boot.figures.get(key)
        if found is None or (impossible and key in _LOAD) or found.bytes < 0:
            continue
        if key == AFTER and DRAFT in boot.figures and BEFORE not in boot.figures:
            continue
        entries.append(Entry(key, f'"{found.text}"', found.line))
    tokens = boot.counts.get("kv-tokens")
    if tokens is not None:
        pool = boot.figures.get(KV_CACHE)
        entries.append(Entry("kv-tokens", f"{tokens}", boot.line if pool is None else pool.line))
    versions = version_of(boot)
    if versions is not None:
        entries.append(Entry("engine-version", f'"{versions[1]}"', boot.version_line or boot.settings_line))
        if versions[0] != versions[1]:
            notes.append(f"The log does not name its version; its settings are those of {versions[0]} to {versions[1]}.")
    return Calibration(tuple(entries), tuple(notes))


def fitted(boot: Boot, document: LogDocument, launch: Launch) -> Calibration:
    """The figures of the boot that belong to a launch: none of another engine, model, version or placement, and the pool's
    only where what sizes the pool is the same."""
    refused = tuple(_misfits(boot, document, launch))
    if refused:
        return Calibration((), refused)
    found = calibration(boot)
    differing = list(_differences(boot, document, launch, _POOL))
    if differing:
        own = (KV_CACHE, "kv-tokens")
        left = [entry.key for entry in found.entries if entry.key in own]
        kept = tuple(entry for entry in found.entries if entry.key not in own)
        if left:
            note = f"{', '.join(left)} belong to another pool and are left out: {'; '.join(differing)}."
            return Calibration(kept, (*found.notes, note))
    return found


def _misfits(boot: Boot, document: LogDocument, launch: Launch) -> Iterator[str]:
    if boot.engine != launch.engine.name:
        yield f"The log is of {boot.engine}, the launch of {launch.engine.name}: nothing is taken over."
        return
    versions = version_of(boot)
    given = parse_version(launch.version.given or "")
    if versions is not None and given is not None:
        oldest, newest = (parse_version(text) or () for text in versions)
        if not oldest <= given <= newest:
            said = versions[1] if versions[0] == versions[1] else f"{versions[0]} to {versions[1]}"
            yield f"The log is of {launch.engine.title} {said}, the launch of {launch.version.given}: its figures are not used."
    logged, own = profile_of(boot), launch.profile_names.get("model")
    if logged is not None and launch.model is not None:
        found = find_model(logged, document_folder(document))
        if getattr(found, "name", None) not in (None, own):
            yield f"The log is of the model {logged}, the launch of {own}: its figures are not this launch's."
    for difference in _differences(boot, document, launch, _PLACEMENT):
        yield f"{difference}: the weights lie differently, so the figures are not this launch's."


def document_folder(document: LogDocument) -> Any:
    from pathlib import Path

    return Path(document.path).parent


def _differences(boot: Boot, document: LogDocument, launch: Launch, names: Sequence[str]) -> Iterator[str]:
    """Settings that are known on both sides and differ."""
    logged = launch_of(boot, document)
    if logged is None:
        return
    printed = printed_settings(boot, logged.launch.version.text)
    for name in names:
        there, here = printed.get(name, logged.launch.value(name)), launch.value(name)
        if there is UNKNOWN or here is UNKNOWN or there is None or here is None:
            continue
        if there != here and not (isinstance(there, float) and abs(there - float(here)) < 5e-4):
            yield f"{name} is {_plain(there)} in the log and {_plain(here)} in the launch"


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
