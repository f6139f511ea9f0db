"""Launches in the text that a script writes or feeds: a launcher, a compose file, a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from preflight.launch import LaunchSite
from preflight.readers.script import Script, Use
from preflight.readers.shelltree import Command, Heredoc
from preflight.readers.shellwords import Word, scan_body
from preflight.text import Decoded

if TYPE_CHECKING:
    from preflight.readers.shell import Context
    from preflight.readers.shellscope import Scope

_ESCAPE = re.compile(r"\\([\\$`])|\\\r?\n")
_TABBED_ESCAPE = re.compile(r"^\t+|\\([\\$`])|\\\r?\n", re.M)
_TABS = re.compile(r"^\t+()", re.M)
_YAML = re.compile(r"^(?:services|apiVersion|kind|x-[\w-]+):", re.M)
_PYTHON = re.compile(r"^(?:import|from|def|class) \w", re.M)


class HeredocCodec:
    """A body: with an unquoted delimiter a backslash escapes, with `<<-` leading tabs go."""

    def __init__(self, quoted: bool, strip_tabs: bool = False) -> None:
        self.quoted = quoted
        self.strip_tabs = strip_tabs

    def decode(self, raw: str) -> Decoded | None:
        if self.quoted and not self.strip_tabs:
            return Decoded(raw)
        pattern = _TABS if self.quoted else _TABBED_ESCAPE if self.strip_tabs else _ESCAPE
        values: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for match in pattern.finditer(raw):
            values.append(raw[at : match.start()])
            starts.extend(range(at, match.start()))
            ends.extend(range(at + 1, match.start() + 1))
            at = match.end()
            if match.group(1):
                values.append(match.group(1))
                starts.append(match.start())
                ends.append(match.end())
        values.append(raw[at:])
        starts.extend(range(at, len(raw) + 1))
        ends.extend(range(at + 1, len(raw) + 1))
        return Decoded("".join(values), 0, starts, ends)

    def encode(self, fragment: str) -> str | None:
        return fragment if self.quoted else re.sub(r"[\\$`]", r"\\\g<0>", fragment)


def heredoc_sites(
    script: Script, command: Command, heredoc: Heredoc, scope: Scope, context: Context, depth: int
) -> Iterator[LaunchSite]:
    from preflight.readers.shell import script_sites

    inner = script.text.inner(heredoc.start, heredoc.end, HeredocCodec(heredoc.quoted, heredoc.strip_tabs))
    if inner is None:
        return
    name = (command.words[0].literal or "").rpartition("/")[2]
    if name.startswith("python") or _PYTHON.search(inner.value):
        return
    if _YAML.search(inner.value):
        from preflight.readers.manifest import text_sites

        yield from text_sites(inner, context)
        return
    if heredoc.quoted:
        yield from script_sites(Script(inner), context, None, None, depth + 1)
        return
    use = Use(command.branch, command.start)
    body = Word(heredoc.start, heredoc.end, tuple(scan_body(script.text.value, heredoc.start, heredoc.end)))
    yield from script_sites(script.around(inner, body, scope, use), context, (scope, use), None, depth + 1)
