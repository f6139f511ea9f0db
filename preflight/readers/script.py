"""A text that is read as shell, and what a word of it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from preflight.launch import UNKNOWN_STATE
from preflight.readers.shellcodec import WordCodec
from preflight.readers.shelltree import Branch
from preflight.readers.shellwords import TEXT, VARIABLE, Hole, Part, Word
from preflight.records import NamedTuple
from preflight.text import Place, Text

_REFERENCE = re.compile(r"\$[({]?[!#]?([A-Za-z_]\w*)", re.ASCII)


@lru_cache(maxsize=4)
def references(text: str) -> Mapping[str, int]:
    """How often a text reads each variable: `$X`, `${X}`, `$(X)`."""
    return Counter(_REFERENCE.findall(text))


CONDITIONAL = "conditional"
"""The state of a range that a template action may leave out."""


class Region(NamedTuple):
    """A range of a script's text that an outer layer filled in, and how sure it is. UNKNOWN_STATE: left as written."""

    start: int
    end: int
    state: str
    name: str
    source: Text | None = None
    definition: Place | None = None


class Outer(NamedTuple):
    """An expansion that an outer shell makes before this script is read: `bash -c "… $X …"`."""

    scope: object
    script: Script
    part: Part
    use: Use

    def splits(self, inner: Part) -> bool:
        """Whether it may become any number of words, where the inner script has it as `inner`."""
        several = self.part.value in "@*" or self.part.subscript in ("@", "*")
        return self.part.kind == VARIABLE and (several or not inner.quoted)


class Script:
    """A text that is read as shell, with the ranges that are not its own."""

    __slots__ = ("holes", "outer", "plain", "regions", "text")

    def __init__(self, text: Text, regions: Sequence[Region] = (), *, plain: bool = False) -> None:
        self.outer: dict[int, Outer] = {}
        self.text = text
        self.regions = regions
        self.plain = plain
        self.holes: Mapping[int, Hole] = {
            region.start: Hole(region.start, region.end, region.name) for region in regions if region.state == UNKNOWN_STATE
        }

    def cut(self, word: Word, codec: WordCodec, scope: object, use: Use) -> Script | None:
        """The script that a word of this one holds."""
        inner = self.text.inner(word.start, word.end, codec)
        return None if inner is None else self.around(inner, word, scope, use)

    def around(self, inner: Text, word: Word, scope: object, use: Use) -> Script:
        """`inner`, cut from this script at `word`. What the word expands itself is not the inner script's to expand."""
        start, end = word.start, word.end
        regions = []
        for region in self.regions:
            if start <= region.start and region.end <= end:
                inside = inner.locate(region.start - start), inner.locate(region.end - start)
                regions.append(region._replace(start=inside[0], end=inside[1]))
        outer = {}
        for part in word.parts:
            if part.start in self.outer:
                outer[inner.locate(part.start - start)] = self.outer[part.start]
            elif part.kind != TEXT and part.start not in self.holes:
                inside = inner.locate(part.start - start), inner.locate(part.end - start)
                regions.append(Region(*inside, UNKNOWN_STATE, part.value))
                outer[inside[0]] = Outer(scope, self, part, use)
        script = Script(inner, sorted(regions, key=lambda region: region.start))
        script.outer = outer
        return script

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
