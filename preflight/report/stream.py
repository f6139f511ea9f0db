"""Where a report goes: whether it is coloured, and writing it whatever the stream's encoding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Stream(Protocol):
    def write(self, text: str, /) -> object: ...


def use_color(flag: str, environ: Mapping[str, str], *, isatty: bool) -> bool:
    """`flag` is `always`, `never` or `auto`: then NO_COLOR and FORCE_COLOR (where not empty) decide, then the terminal."""
    if flag != "auto":
        return flag == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return isatty and environ.get("TERM") != "dumb"


def write(stream: Stream, text: str) -> None:
    """Write `text`; characters that the stream's encoding lacks are shown by their number."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(text)
