"""Launches in systemd units: `ExecStart=`, with the environment that the unit sets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.launch import EnvVar, LaunchSite, Reading, Token
from preflight.readers.lines import ContinuedCodec, line_text, logical_lines
from preflight.readers.script import Script, Use
from preflight.readers.shell import Context, command_sites, distinct
from preflight.readers.shellcodec import WordCodec, quoting_of
from preflight.readers.shellscope import Scope
from preflight.readers.shelltree import Program
from preflight.readers.shellwords import split_words
from preflight.text import VERBATIM, Document, Text

_KEY = re.compile(r"[ \t]*(ExecStart|Environment)[ \t]*=[ \t]*[-@:+!]*")
_CODEC = ContinuedCodec(" ", comments=True)


def read(document: Document) -> Reading:
    text = Text.of(document, 0, len(document.text), VERBATIM)
    assert text is not None  # the layer that changes nothing reads everything
    return Reading(tuple(distinct(unit_sites(text, Context(document, "systemd")))))


def unit_sites(parent: Text, context: Context) -> Iterator[LaunchSite]:
    context = context._replace(kind="systemd")
    lines = [line for line in logical_lines(parent.value, "#;") if _KEY.match(parent.value, line.start) is not None]
    texts = [line_text(parent, line.start, line.end, _CODEC) for line in lines]
    keyed = [(match, text) for text in texts if (match := _KEY.match(text.value)) is not None]
    env = [variable for match, text in keyed if match.group(1) == "Environment" for variable in _variables(text, match.end())]
    context = context._replace(env=tuple(env))
    for match, text in keyed:
        if match.group(1) == "ExecStart":
            yield from _start(text, match.end(), context)


def _variables(text: Text, start: int) -> Iterator[EnvVar]:
    """`Environment="A=b" C=d`."""
    for word in split_words(text.value, start, len(text.value)):
        inner = text.inner(word.start, word.end, WordCodec(quoting_of(text.value[word.start : word.end])))
        if inner is None or "=" not in inner.value:
            continue
        name, _equals, value = inner.value.partition("=")
        at = inner.inner(len(name) + 1, len(inner.value))
        if at is not None:
            yield EnvVar(name, Token(value, at, at), inner.place_of(0, len(name)))


def _start(text: Text, start: int, context: Context) -> Iterator[LaunchSite]:
    script = Script(text)
    environment = {variable.name: variable.token for variable in context.env}
    scope = Scope(script, Program((), (), frozenset()), None, environment)
    words = split_words(text.value, start, len(text.value))
    arguments = scope.arguments(script, words, Use((), start))
    yield from command_sites(arguments, scope, Use((), start), context._replace(extent=text.place))
