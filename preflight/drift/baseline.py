"""The boot that a launch names as its baseline, and what has drifted since."""

from __future__ import annotations

import os
from functools import lru_cache

from preflight.drift.compare import Difference, Effect, differences, effects, telling
from preflight.drift.sides import Side, of_boot, same_model
from preflight.engines.base import Launch
from preflight.logs.boot import FAILED, Boot
from preflight.records import NamedTuple
from preflight.text import Located


class NoBaseline(NamedTuple):
    """Why nothing is compared. `foreign`: the log is of another launch, which is worth less than a missing one."""

    message: str
    foreign: bool = False


class Drift(NamedTuple):
    """`changes` have an effect on memory, `others` have none. `version` is that of the baseline where it differs."""

    baseline: Side
    changes: tuple[Effect, ...]
    others: tuple[Difference, ...]
    differences: tuple[Difference, ...]


def named(launch: Launch) -> Located[object] | None:
    return launch.tables.get("baseline", {}).get("log")


def drift(launch: Launch) -> Drift | NoBaseline | None:
    """None where no baseline is named."""
    log = named(launch)
    if log is None:
        return None
    folder = os.path.dirname(log.place.path)
    path = os.path.join(folder, str(log.value))
    boot = _boot(path, _stamp(path))
    if isinstance(boot, NoBaseline):
        return boot
    if boot.engine != launch.engine.name:
        return NoBaseline(f"The baseline {log.value} is of {boot.engine}, this launch of {launch.engine.name}.", foreign=True)
    if same_model(boot, launch) is False:
        return NoBaseline(f"The baseline {log.value} is of another model than this launch.", foreign=True)
    side = of_boot(path, boot, launch)
    if side is None:
        return NoBaseline(f"The baseline {log.value} shows no settings, so nothing can be compared with it.")
    return _drift(side, launch)


def _drift(side: Side, launch: Launch) -> Drift:
    here = Side(launch.site.document.path, 0, launch, launch.engine.budget(launch))
    found = differences(side, here)
    moved = list(effects(side, here, found))
    kept, _ = telling(side, here, found, moved)
    moving = {one.what for one in moved}
    return Drift(side, tuple(moved), tuple(one for one in kept if one.name not in moving), tuple(found))


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=16)
def _boot(path: str, stamp: tuple[int, int]) -> Boot | NoBaseline:
    """The last boot of a log that started; `stamp` tells a changed file from the one that was read."""
    from preflight.calibrate.figures import choose_boot
    from preflight.logs.reader import read_log

    try:
        boots = read_log(path)
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        return NoBaseline(f"The baseline {path} {reason}, so nothing can be compared with it.")
    boot = choose_boot(boots)
    if boot is None:
        return NoBaseline(f"The baseline {path} holds no boot that measured anything.")
    if boot.outcome == FAILED:
        return NoBaseline(f"The baseline {path} shows a boot that failed.")
    return boot
