"""Launches in the here-documents of Terraform: manifests and start-up scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.launch import LaunchSite, Reading
from preflight.readers.editing import NoEditor
from preflight.readers.script import Script
from preflight.readers.shell import Context, distinct, script_sites
from preflight.readers.shellwords import STAND_END, STAND_IN, skip_braces
from preflight.readers.words import ANCHOR
from preflight.text import Decoded, Document, Text

_HEREDOC = re.compile(r"<<-?([A-Za-z_]\w*)[ \t]*\r?\n")
_TEMPLATE = re.compile(r"\$\$\{|%%\{|\$\{|%\{")
_LONGEST = 2000
_YAML = re.compile(r"^[ \t]*(?:apiVersion|kind|spec|containers|services):", re.M)


class HclCodec:
    """A here-document: `${…}` is filled in, `$${` is a `${`."""

    def decode(self, raw: str) -> Decoded | None:
        values: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for match in _TEMPLATE.finditer(raw):
            start, end = match.span()
            if start < at:
                continue
            value = match.group()[1:]
            if value == "{":
                end = skip_braces(raw, start + 1, min(len(raw), start + _LONGEST))
                value = "" if match.group() == "%{" else STAND_IN + _name(raw[start:end]) + STAND_END
            values += [raw[at:start], value]
            starts += [*range(at, start), *[start] * len(values[-1])]
            ends += [*range(at + 1, start + 1), *[end] * len(values[-1])]
            at = end
        values.append(raw[at:])
        starts += range(at, len(raw) + 1)
        ends += range(at + 1, len(raw) + 1)
        return Decoded("".join(values), 0, starts, ends)

    def encode(self, fragment: str) -> str | None:
        return fragment.replace("${", "$${").replace("%{", "%%{")


def _name(expression: str) -> str:
    names = re.findall(r"[A-Za-z_]\w*", expression)
    return names[-1] if names else ""


def read(document: Document) -> Reading:
    return Reading(tuple(site._replace(editor=NoEditor()) for site in distinct(_sites(document))))


def _sites(document: Document) -> Iterator[LaunchSite]:
    context = Context(document, "terraform")
    at = 0
    while (match := _HEREDOC.search(document.text, at)) is not None:
        closing = re.compile(rf"^[ \t]*{match.group(1)}[ \t]*\r?$", re.M).search(document.text, match.end())
        at = closing.start() if closing is not None else len(document.text)
        if ANCHOR.search(document.text, match.end(), at) is None:
            continue
        body = Text.of(document, match.end(), at, HclCodec())
        if body is None:
            continue
        if _YAML.search(body.value) and not body.value.lstrip().startswith("#!"):
            from preflight.readers.manifest import text_sites

            yield from text_sites(body, context)
        else:
            yield from script_sites(Script(body), context)
