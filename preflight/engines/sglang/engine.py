"""SGLang as the linter sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from preflight.engines.base import Engine
from preflight.engines.sglang import memory
from preflight.engines.sglang.defaults import MEMORY_ROWS
from preflight.engines.sglang.flags import parse, releases, spelling
from preflight.engines.steps import Row, Topic
from preflight.engines.versions import Version, parse_version

READ_RELEASES = (
    "0.4.6.post5",
    "0.4.10",
    "0.5.2",
    "0.5.5.post3",
    "0.5.8",
    "0.5.9",
    "0.5.10.post1",
    "0.5.12.post1",
    "0.5.15.post1",
    "0.5.18",
    "0.5.20",
    "0.5.23",
)

STEPS = ("parse", "gpu-memory", "model", "attention", "page-size", "parallel", "speculative", "checks", "model-config", "later")
"""Upstream's order of resolution, coarse; rows of one step keep their own `order`."""

_OWN_ROWS = {"gpu-memory": MEMORY_ROWS}


def rows(topics: Iterable[tuple[Row, Topic]]) -> Sequence[tuple[Row, Topic | None]]:
    """All rows in upstream's order."""
    return _merged(tuple(topics))


@lru_cache(maxsize=2)
def _merged(topics: tuple[tuple[Row, Topic], ...]) -> Sequence[tuple[Row, Topic | None]]:
    by_step: dict[str, list[tuple[Row, Topic | None]]] = {
        step: [(row, None) for row in _OWN_ROWS.get(step, ())] for step in STEPS
    }
    for row, topic in topics:
        if topic.engine == "sglang":
            by_step[topic.step].append((row, topic))
    return [pair for step in STEPS for pair in sorted(by_step[step], key=lambda pair: pair[0].order)]


def _read() -> tuple[Version, ...]:
    return tuple(version for text in READ_RELEASES if (version := parse_version(text)) is not None)


SGLANG = Engine(
    name="sglang",
    title="SGLang",
    knob=memory.KNOB,
    read=_read(),
    releases=releases,
    parse=parse,
    rows=rows,
    budget=memory.budget,
    spelling=spelling,
)
