"""What rules on a launch and its surroundings share: the GPUs it gets, and the ports it opens."""

from __future__ import annotations

import re

from preflight.engines.base import Launch, Spread
from preflight.engines.steps import INLINE_DEFAULT
from preflight.launch import Port
from preflight.records import NamedTuple
from preflight.text import Located


class Gpus(NamedTuple):
    """GPUs of each node that a launch may use. `nodes`: how many the file shows. `proven`: it can use no others."""

    each: int
    nodes: int
    proven: bool


def gpus_per_node(launch: Launch) -> Located[Gpus] | None:
    """The GPUs that the launch's file gives to each node; None where it does not say."""
    site = launch.site
    overridable = any(launch.settings[name].origin == INLINE_DEFAULT for name in launch.spread.sizes if name in launch.settings)
    table = launch.tables.get("hardware", {})
    nodes = table.get("nodes")
    known = nodes.value if nodes is not None and isinstance(nodes.value, int) else launch.hardware.nodes if launch.hardware else 1
    proven = site.around.sees_only_its_gpus and site.complete and not overridable
    if site.gpus is not None:
        return Located(Gpus(site.gpus.value, known, proven), site.gpus.place)
    count = launch.hardware.count if launch.hardware is not None else None
    located = table.get("count") or table.get("profile") or table.get("gpu")
    if count is None or located is None:
        return None
    return Located(Gpus(count, known, proven and located.place.document is site.document), located.place)


def ranks_in_words(launch: Launch, spread: Spread) -> str:
    """`tp-size 8 × pp-size 2`, as the launch gives them."""
    words = [f"{name} {launch.value(name)}" for name in spread.sizes]
    if spread.first:
        words.append(f"from GPU {spread.first} on")
    return " × ".join(words) or "A single rank"


def gpu_numbers(launch: Launch) -> tuple[str, ...]:
    """The GPUs of the machine that the launch takes for certain, while the other launches of its file run."""
    around, spread = launch.site.around, launch.spread
    if around.devices is None or not around.certain or not around.sees_only_its_gpus:
        return ()
    seen = around.devices.value
    if len(seen) == 1:
        return seen
    if spread.ranks is None or spread.nodes != 1:
        return ()
    return seen[spread.first : spread.first + spread.step * spread.ranks : spread.step]


_METRICS = ("metric", "prom", "monitor")


def is_for_metrics(port: Port) -> bool:
    return port.name is not None and any(word in port.name.lower() for word in _METRICS)


def opens(launch: Launch, number: int) -> bool:
    """Whether the launch may listen on a port: its own, or any number that its command holds."""
    if number == launch.engine.listens(launch).port:
        return True
    return any(str(number) in re.findall(r"\d+", token.text) for token in launch.site.argv)
