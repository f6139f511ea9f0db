"""What a boot log says of one start of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preflight.memory.range import Range, within
from preflight.records import NamedTuple
from preflight.units import GIB

STARTED, FAILED, CUT = "started", "failed", "cut"
"""CUT: the log ends, or the next boot begins, before the server was ready and without a failure."""

RAISE, LOWER, NEITHER = "raise", "lower", "neither"
"""What a failure asks of the setting that moves the KV pool. NEITHER: it does not help, whatever the message says."""

BEFORE, AFTER, WEIGHTS, DRAFT, KV_CACHE, GRAPHS, ACTIVATIONS, LATE_FREE = (
    "free-before-load",
    "free-after-load",
    "weights",
    "draft-weights",
    "kv-cache",
    "graphs",
    "activations",
    "free-after-graphs",
)

USAGES = (WEIGHTS, DRAFT, GRAPHS, ACTIVATIONS)


class Figure(NamedTuple):
    """One amount as printed: bytes, half of its last digit in bytes, its text in GiB, and the line and rank that print it."""

    bytes: float
    slack: float
    text: str
    line: int
    rank: str = ""

    @property
    def range(self) -> Range:
        return within(self.bytes - self.slack, self.bytes, self.bytes + self.slack)


def figure(number: str, line: int, rank: str = "") -> Figure:
    """An amount that an engine prints: its "GB" are 2^30 bytes, as its "GiB" are."""
    decimals = len(number.partition(".")[2])
    return Figure(float(number) * GIB, GIB * 10.0**-decimals / 2, f"{number} GiB", line, rank)


class Failure(NamedTuple):
    """What stopped a boot: the condition by name, when, with which figures, and on which line it is said.

    `stage` is one of `diagnostics.STAGES`. `direction` says what helps: RAISE or LOWER the memory fraction, NEITHER, or None
    where memory is not the matter. `numbers` are those of the message, in GiB where their name says so. `says` is what the
    message itself advises, where it advises one direction.
    """

    kind: str
    stage: str
    line: int
    text: str
    direction: str | None = None
    numbers: Mapping[str, float] = {}
    says: str | None = None


class Boot(NamedTuple):
    """One start of one server.

    `settings` are as printed, by the engine's own names; `resolved` says that they are what the engine made of the command
    line (SGLang), not the command line itself (vLLM). `complete` is False where their line was cut. `figures` hold one amount
    each: free memory is the least over ranks, as the engine takes it, usage the most. `by_rank` has all of them.
    """

    engine: str
    line: int
    source: str = ""
    """What stands before its lines where a file holds several servers: a container, a pod."""
    version: str | None = None
    version_line: int = 0
    settings: Mapping[str, Any] = {}
    settings_line: int = 0
    resolved: bool = True
    complete: bool = True
    env: Mapping[str, str] = {}
    """Environment and system hints that the log shows: variables, and NCCL, CUDA and driver versions in lower case."""
    figures: Mapping[str, Figure] = {}
    by_rank: Mapping[str, Mapping[str, Figure]] = {}
    counts: Mapping[str, int] = {}
    """kv-tokens, and what a summary line says: context-length, max-running-requests, chunked-prefill-size, …"""
    outcome: str = CUT
    failure: Failure | None = None
    excerpts: Mapping[int, str] = {}
    """The text of the lines that are pointed at, by number."""

    @property
    def impossible(self) -> dict[str, Figure]:
        """Figures that no server of its own could have measured: on a shared GPU another process freed memory meanwhile."""
        before, after = self.figures.get(BEFORE), self.figures.get(AFTER)
        wrong = {name: value for name, value in self.figures.items() if name in USAGES and value.bytes < -value.slack}
        if before is not None and after is not None and after.bytes - after.slack > before.bytes + before.slack:
            wrong.setdefault(WEIGHTS, after)
        return wrong
