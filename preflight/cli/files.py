"""Reading the files to be linted; what cannot be read is a diagnostic with its place."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from preflight.cli.arguments import Arguments
from preflight.diagnostics import ERROR, Diagnostic, Rule
from preflight.records import NamedTuple
from preflight.text import Document, Place, Span

if TYPE_CHECKING:
    from preflight.cli.session import Session

LARGEST_BYTES = 10_000_000
UNREADABLE = Rule("CFG006", "unreadable-file", ERROR)


_LOG_NAMES = (".log", ".txt", ".out")


def may_be_log(path: str) -> bool:
    """By its name alone: what it holds is for the log reader to say."""
    return path.lower().endswith(_LOG_NAMES)


class Unreadable(NamedTuple):
    """A file that could not be read, and why."""

    diagnostic: Diagnostic


def unreadable(path: str, message: str) -> Unreadable:
    place = Place(Document(path, ""), Span(0, 0))
    return Unreadable(Diagnostic(UNREADABLE, ERROR, None, message, place))


_STREAMS = ("/dev/", "/proc/self/fd/")


def readable(path: str) -> bool:
    """Whether a file that is there may be opened: a pipe might never say anything, a device never end. What the caller's own
    shell hands over under /dev is read."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return True  # opening it says why not
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or path.startswith(_STREAMS)


def read_file(path: str) -> Document | Unreadable:
    if not readable(path):
        return unreadable(path, f"{path} is no regular file but a pipe, a socket or a device. Name a file, or pipe it to `-`.")
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST_BYTES:
                return unreadable(
                    path, f"{path} has {size / 1e6:.0f} MB; more than 10 MB is read of logs only. Leave the file out."
                )
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror or error}"
        return unreadable(path, f"{path} {reason}. Check the path and its permissions.")
    except ValueError:
        return unreadable(path, f"{path!r} is no path. Check how it is spelled.")
    return decode(path, data)


def read_stdin(path: str, stream: BinaryIO) -> Document | Unreadable:
    return decode(path, stream.read(LARGEST_BYTES + 1))


def decode(path: str, data: bytes) -> Document | Unreadable:
    if len(data) > LARGEST_BYTES:
        return unreadable(path, f"{path} has more than 10 MB. Leave the file out.")
    try:
        return Document.from_bytes(path, data)
    except UnicodeDecodeError as error:
        return unreadable(path, f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.")


def expand(paths: Sequence[str], session: Session, arguments: Arguments) -> Iterator[str]:
    """The files named, and those below the folders named that may hold a launch, in a stable order. A file that is named is
    linted even where it is excluded, unless the caller forces it."""
    from preflight.discovery import walk
    from preflight.settings import matches

    def excluded(path: str) -> bool:
        relative = os.path.relpath(path).replace(os.sep, "/")
        return any(matches(glob, relative) for glob in arguments.exclude) or session.excludes(path)

    for path in paths:
        if path != "-" and os.path.isdir(path):
            yield from walk(path, excluded)
        elif not (arguments.force_exclude and path != "-" and excluded(path)):
            yield path
