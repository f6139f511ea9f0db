"""A text that is read as shell, and what a word of it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from preflight.launch import UNKNOWN_STATE
from preflight.readers.shellcodec import WordCodec
from preflight.readers.shelltree import Branch
from preflight.readers.shellwords import Hole
from preflight.text import Place, Text


class Region(NamedTuple):
    """A range of a script's text that an outer layer filled in, and how sure it is. UNKNOWN_STATE: left as written."""

    start: int
    end: int
    state: str
    name: str
    source: Text | None = None
    definition: Place | None = None


class Script:
    """A text that is read as shell, with the ranges that are not its own."""

    __slots__ = ("holes", "plain", "regions", "text")

    def __init__(self, text: Text, regions: Sequence[Region] = (), *, plain: bool = False) -> None:
        self.text = text
        self.regions = regions
        self.plain = plain
        self.holes: Mapping[int, Hole] = {
            region.start: Hole(region.start, region.end, region.name) for region in regions if region.state == UNKNOWN_STATE
        }

    def cut(self, start: int, end: int, codec: WordCodec) -> Script | None:
        """The script inside a word of this one."""
        inner = self.text.inner(start, end, codec)
        if inner is None:
            return None
        regions = []
        for region in self.regions:
            if start <= region.start and region.end <= end:
                inside = inner.locate(region.start - start), inner.locate(region.end - start)
                regions.append(region._replace(start=inside[0], end=inside[1]))
        return Script(inner, regions)

    def overlapping(self, start: int, end: int) -> list[Region]:
        return [region for region in self.regions if region.start < end and start < region.end]


class Use(NamedTuple):
    """Where a variable is used."""

    branch: Branch
    position: int


class Scalar(NamedTuple):
    """What one word or variable holds. `given`: unknown because it comes from the caller's arguments."""

    value: str | None
    pattern: str
    state: str
    source: Text | None = None
    definition: Place | None = None
    given: bool = False
