"""From the lines of one server to its boot: who measured what, in which order."""

from __future__ import annotations

from typing import Any

from preflight.logs import boot as names
from preflight.logs.boot import CUT, FAILED, STARTED, Boot, Failure, Figure
from preflight.units import GIB

INIT, LOAD, SIZING, CAPTURE, SERVING = "init", "load", "kv-sizing", "capture", "serving"
_ORDER = ("arguments", INIT, LOAD, SIZING, CAPTURE, SERVING)
MOST_RANKS = 1024
_MOST_LOADS = 16


class Rank:
    """What one process printed. Draft workers print lines of their own behind those of the target: order tells them apart."""

    def __init__(self) -> None:
        self.stage = INIT
        self.loads: list[tuple[Figure | None, Figure | None, Figure | None]] = []
        """Free before, free after and usage of each weight load."""
        self.loads_before_pool = 0
        self.pools: list[Figure] = []
        self.pool_end = False
        self.graphs: list[Figure] = []
        self.tokens: int | None = None
        self.more: dict[str, Figure] = {}

    def begin_load(self, before: Figure) -> None:
        if len(self.loads) < _MOST_LOADS:
            self.loads.append((before, None, None))
        if not self.pool_end:
            self.stage = LOAD

    def end_load(self, after: Figure | None, usage: Figure | None) -> None:
        if not self.loads or self.loads[-1][1] is not None or self.loads[-1][2] is not None:
            self.loads.append((None, None, None))
        self.loads[-1] = (self.loads[-1][0], after, usage)
        if not self.pool_end:
            self.stage = SIZING
            self.loads_before_pool = len(self.loads)

    def pool(self, tokens: int | None, sizes: list[Figure]) -> None:
        if self.tokens is None:
            self.tokens = tokens
        if sizes and len(self.pools) < _MOST_LOADS and not (self.pool_end and self.pools):  # what follows is a draft's
            self.pools += sizes
        if self.stage == LOAD:
            self.stage = SIZING

    def figures(self) -> dict[str, Figure]:
        found = dict(self.more)
        if self.loads:
            first, last = self.loads[0], self.loads[max(self.loads_before_pool, 1) - 1]
            _put(found, names.BEFORE, first[0])
            _put(found, names.AFTER, last[1] or first[1])
            _put(found, names.WEIGHTS, first[2])
            drafts = [usage for _, _, usage in self.loads[1:] if usage is not None]
            _put(found, names.DRAFT, _sum(drafts))
        _put(found, names.KV_CACHE, _sum(self.pools))
        _put(found, names.GRAPHS, _sum(self.graphs))
        return found


def _put(found: dict[str, Figure], name: str, value: Figure | None) -> None:
    if value is not None:
        found.setdefault(name, value)


def _sum(figures: list[Figure]) -> Figure | None:
    if not figures:
        return None
    if len(figures) == 1:
        return figures[0]
    total, slack = sum(one.bytes for one in figures), sum(one.slack for one in figures)
    return Figure(total, slack, f"{total / GIB:.2f} GiB", figures[0].line, figures[0].rank)


class Assembly:
    """A boot in the making."""

    def __init__(self, engine: str, line: int, source: str) -> None:
        self.engine = engine
        self.line = line
        self.source = source
        self.version: str | None = None
        self.version_line = 0
        self.settings: dict[str, Any] = {}
        self.settings_line = 0
        self.resolved = True
        self.complete = True
        self.env: dict[str, str] = {}
        self.ranks: dict[str, Rank] = {}
        self.counts: dict[str, int] = {}
        self.started = False
        self.failure: Failure | None = None
        self.certainty = -1
        self.excerpts: dict[int, str] = {}

    def rank(self, name: str) -> Rank:
        found = self.ranks.get(name)
        if found is None:
            found = Rank()
            if len(self.ranks) < MOST_RANKS:
                self.ranks[name] = found
        return found

    @property
    def fresh(self) -> bool:
        """Whether nothing was measured yet."""
        return not any(rank.loads or rank.more for rank in self.ranks.values())

    def stage(self, rank: str) -> str:
        """How far a process has come; of one that printed nothing, the furthest of all."""
        if self.started:
            return SERVING
        own = self.ranks.get(rank)
        if own is not None and (own.loads or own.pool_end or own.more):
            return own.stage
        stages = [each.stage for each in self.ranks.values()]
        return max(stages, key=_ORDER.index, default=INIT)

    def failed(self, failure: Failure, certainty: int, text: str) -> None:
        """The first of those that tell the cause best. Once it serves, an exception of one request stops nothing."""
        if self.started and certainty < 1:
            return
        if certainty > self.certainty:
            self.failure, self.certainty = failure, certainty
            self.excerpts[failure.line] = text

    def finished(self) -> Boot:
        by_rank = {name: rank.figures() for name, rank in self.ranks.items()}
        tokens = [rank.tokens for rank in self.ranks.values() if rank.tokens is not None]
        counts = dict(self.counts)
        if tokens:
            counts.setdefault("kv-tokens", min(tokens))
        figures: dict[str, Figure] = {}
        for found in by_rank.values():
            for name, value in found.items():
                known = figures.get(name)
                least = name in (names.BEFORE, names.AFTER, names.LATE_FREE, names.KV_CACHE)
                if known is None or (value.bytes < known.bytes if least else value.bytes > known.bytes):
                    figures[name] = value
        failure = self.failure
        stopped = failure is not None and not (failure.kind == "exception" and self.started)
        return Boot(
            self.engine,
            self.line,
            self.source,
            self.version,
            self.version_line,
            self.settings,
            self.settings_line,
            self.resolved,
            self.complete,
            self.env,
            figures,
            by_rank,
            counts,
            FAILED if stopped else STARTED if self.started else CUT,
            failure if stopped else None,
            self.excerpts,
        )
