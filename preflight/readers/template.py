"""Helm and Jinja templates, read as text: spelled-out flags only.

An action that gives a value stands in for itself (`shellwords.STAND_IN`), a branch leaves what it encloses, and what a branch or
a loop encloses is conditional. A command is not complete where an action can add flags to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from preflight.launch import OPAQUE, LaunchSite, Reading
from preflight.readers.editing import NoEditor
from preflight.readers.script import Script
from preflight.readers.shell import Context, distinct, script_sites
from preflight.readers.shellwords import STAND_END, STAND_IN
from preflight.readers.yamltree import Tree
from preflight.text import Decoded, Document, Text

# No action holds the start of another: without that, a text of nothing but starts takes quadratic time.
_ACTION = re.compile(r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}|\{%(?:[^%{]|%(?!\})|\{(?!%))*%\}|\{#(?:[^#{]|#(?!\})|\{(?!#))*#\}")
_CONTROL = re.compile(
    r"\{\{-?\s*(?:(?P<open>if|range|with|define|block)\b|(?P<close>end)\b|else\b|\$\w+\s*:?=|/\*)"
    r"|\{%[-+]?\s*(?:(?P<begin>if|for|macro|call|filter|raw|block|with)\b|(?P<finish>end\w+)|\w+)|\{#"
)
_MOST = 20_000
_WORDS = re.compile(r"[A-Za-z_]\w*")
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_LAYOUT = re.compile(r"toYaml|nindent|\bindent\b|\binclude\b|\btpl\b|range|\bfor\b")


class Actions:
    """The actions of a template text: what they stand for, and which ranges are conditional."""

    def __init__(self, raw: str) -> None:
        self.pieces: list[tuple[int, int, str]] = []
        """Ranges of the raw text that read as something else."""
        self.conditional: list[tuple[int, int]] = []
        self.adding: list[int] = []
        """Where an action writes what may be several words or lines."""
        stack: list[int] = []
        for match in islice(_ACTION.finditer(raw), _MOST):
            self._take(raw, match, stack)
        self.conditional += [(start, len(raw)) for start in stack]

    def _take(self, raw: str, match: re.Match[str], stack: list[int]) -> None:
        start, end = match.span()
        control = _CONTROL.match(raw, start, end)
        opens = control and (control["open"] or control["begin"])
        if opens:
            stack.append(start)
            if opens in ("range", "for"):
                self.adding.append(start)
        elif control is not None and (control["close"] or control["finish"]) and stack:
            self.conditional.append((stack.pop(), end))
        value = control is None
        alone = self._line(raw, start, end)
        if value and alone is not None and _LAYOUT.search(match.group()):
            self.adding.append(start)
            value = False
        if value:
            self.pieces.append((start, end, STAND_IN + _name(match.group()) + STAND_END))
        elif alone is not None:
            self.pieces.append((*alone, ""))
        else:
            self.pieces.append((self._trimmed(raw, start, end)[0], end, ""))

    @staticmethod
    def _line(raw: str, start: int, end: int) -> tuple[int, int] | None:
        """The whole line of an action that stands alone on it."""
        while start > 0 and raw[start - 1] in " \t":
            start -= 1
        following = _LINE_END.match(raw, end)
        return (start, following.end()) if following is not None and (start == 0 or raw[start - 1] == "\n") else None

    @staticmethod
    def _trimmed(raw: str, start: int, end: int) -> tuple[int, int]:
        if raw.startswith(("{{-", "{%-"), start):
            while start > 0 and raw[start - 1] in " \t":
                start -= 1
        return start, end


def _name(action: str) -> str:
    """A name to show for the value that an action gives: its last field, without what filters do to it."""
    names = _WORDS.findall(action.strip("{}-% ").partition("|")[0])
    return names[-1] if names else ""


class TemplateCodec:
    """A template as the text that it would leave. It is not edited: what an action writes is not known."""

    def decode(self, raw: str) -> Decoded | None:
        values: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for start, end, value in Actions(raw).pieces:
            if end <= at:
                continue
            start = max(start, at)
            values += [raw[at:start], value]
            starts += [*range(at, start), *[start] * len(value)]
            ends += [*range(at + 1, start + 1), *[end] * len(value)]
            at = end
        values.append(raw[at:])
        starts += range(at, len(raw) + 1)
        ends += range(at + 1, len(raw) + 1)
        return Decoded("".join(values), 0, starts, ends)

    def encode(self, fragment: str) -> str | None:
        return fragment


def read(document: Document) -> Reading:
    text = Text.of(document, 0, len(document.text), TemplateCodec())
    assert text is not None  # every text is a template
    actions = Actions(document.text)
    context = Context(document, "template")
    return Reading(tuple(_judged(site, actions) for site in distinct(_sites(text, context))))


def _sites(text: Text, context: Context) -> Iterator[LaunchSite]:
    if re.search(r"^\[Service\]", text.value, re.M):
        from preflight.readers.units import unit_sites

        yield from unit_sites(text, context)
        return
    if not text.value.startswith("#!") and re.search(r"^[ \t]*(?:- )?[\w./-]+:(?:[ \t]|$)", text.value, re.M):
        from preflight.readers.manifest import tree_sites

        tree = Tree(text)
        yield from tree_sites(tree, context)
        if tree.problem is not None:  # what follows is not YAML before the template is rendered: scripts are still scripts
            rest = text.inner(tree.broken_at, len(text.value))
            assert rest is not None
            yield from script_sites(Script(rest), context)
        return
    yield from script_sites(Script(text), context)


def _judged(site: LaunchSite, actions: Actions) -> LaunchSite:
    """What a branch around a word, and not around its launch, makes of it."""
    head = site.head.span.start
    ranges = [(start, end) for start, end in actions.conditional if not start <= head < end]
    argv = []
    for token in site.argv:
        at = token.place.span.start
        if any(start <= at < end for start, end in ranges):
            token = token._replace(conditional=True, source=None)
        argv.append(token)
    last = max([site.head.span.end, *(token.place.span.end for token in site.argv)])
    extent = site.extent.span if site.extent is not None else site.head.span
    stop = min(extent.end, last + 400) if extent.end > last else last
    added = any(head <= at <= stop for at in actions.adding) or any(token.state == OPAQUE for token in argv)
    branches = any(head <= start <= stop for start, _end in ranges)
    return site._replace(
        argv=tuple(argv), complete=site.complete and not added and not branches, kind=site.kind, editor=NoEditor()
    )
