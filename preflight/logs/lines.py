"""The lines of a log that may say something of a boot, from a stream of any size, in flat memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from preflight.records import NamedTuple

BLOCK = 1 << 18
LONGEST = 1 << 17
"""Bytes of one line that are kept; an argument line of every release fits several times."""

LITERALS = (
    b"server_args=",
    b"args: {",
    b"args: Namespace(",
    b" with config: ",
    b"API server version",
    b"Init torch distributed",
    b"Init parallel",
    b"Load weight",
    b"Starting to load model",
    b"#tokens: ",
    b"Cache is allocated",
    b"emory pool end",
    b"raph begin",
    b"raph end",
    b"raph failed",
    b"max_total_num_tokens=",
    b"GiB",
    b"KV cache size: ",
    b"Maximum concurrency",
    b"Using max model len",
    b"sliding window memory",
    b"cache blocks",
    b"max seq len",
    b"ot enough ",
    b"no GPU memory",
    b"unbalanced",
    b"ut of memory",
    b"too small",
    b"is zero",
    b"no room for",
    b"cannot hold",
    b"fired up",
    b"startup complete",
    b"Uvicorn running",
    b"Error: ",
    b"exit code",
    b"SIGKILL",
    b"set by environment to",
    b"NCCL version",
    b"Driver Version",
    b"minimum viable",
    b"Model loading took",
    b"driver version",
    b"sglang==",
    b"vllm==",
    b"sglang:v",
    b"vllm-openai:v",
    b"export ",
)
"""A line with none of these says nothing of a boot: lines of serving have none."""

ANCHORS = (
    b"server_args=",
    b"non-default args: {",
    b"LLM engine (v",
    b"Load weight begin",
    b"Init torch distributed",
    b"Model loading took",
)
"""What tells a boot log from any other text."""

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Line(NamedTuple):
    """A line by its number (lines end at line feeds, as `grep -n` counts), without colour. `cut`: its end is missing."""

    number: int
    text: str
    cut: bool = False


def interesting(stream: BinaryIO) -> Iterator[Line]:
    """The lines with one of `LITERALS`. No more than BLOCK and LONGEST bytes are held at a time."""
    buffer, number, dropping = b"", 1, False
    source = _utf8(stream)
    while block := source.read(BLOCK):
        if dropping:
            end = block.find(b"\n")
            if end < 0:
                continue
            block, number, dropping = block[end + 1 :], number + 1, False
        block = buffer + block
        last = block.rfind(b"\n") + 1
        yield from _hits(block[:last], number)
        number += block.count(b"\n")
        buffer = block[last:]
        if len(buffer) > LONGEST:
            yield from _hits(buffer, number)
            buffer, dropping = b"", True
    yield from _hits(buffer, number)


def _utf8(stream: BinaryIO) -> Source:
    """The stream as UTF-8: a shell that redirects in UTF-16 says so with a byte-order mark."""
    head = stream.read(2)
    if head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16-le" if head == codecs.BOM_UTF16_LE else "utf-16-be"
        return codecs.EncodedFile(stream, "utf-8", encoding, errors="replace")
    return _Rejoined(head, stream)


class _Rejoined:
    """A stream whose first bytes were looked at."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int) -> bytes:
        head, self._head = self._head, b""
        return head + self._stream.read(size)


def _hits(block: bytes, number: int) -> Iterator[Line]:
    """The lines of whole lines `block`, whose first is `number`."""
    starts: set[int] = set()
    for literal in LITERALS:
        at = block.find(literal)
        while at >= 0:
            starts.add(block.rfind(b"\n", 0, at) + 1)
            at = block.find(b"\n", at)
            at = block.find(literal, at) if at >= 0 else -1
    at = 0
    for start in sorted(starts):
        number += block.count(b"\n", at, start)
        at = start
        end = block.find(b"\n", start)
        raw = block[start : end if end >= 0 else len(block)]
        yield Line(number, clean(raw[:LONGEST]), len(raw) > LONGEST)


def clean(raw: bytes) -> str:
    """As a terminal shows it: without colour, and of what a progress bar wrote over itself the last."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.rpartition("\r")[2] if "\r" in text else text
