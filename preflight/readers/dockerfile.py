"""Launches in Dockerfiles: ENTRYPOINT and CMD of the last stage, in exec and shell form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.launch import EnvVar, LaunchSite, Reading, Token
from preflight.readers.container import container_sites
from preflight.readers.editing import Argument
from preflight.readers.images import image_versions, pinned_version
from preflight.readers.jsonlist import array_arguments
from preflight.readers.lines import ContinuedCodec, line_text, logical_lines
from preflight.readers.script import Script, Use
from preflight.readers.shell import Context, distinct, script_sites
from preflight.readers.shellcodec import WordCodec, quoting_of
from preflight.readers.shellscope import Scope
from preflight.readers.shelltree import Program
from preflight.readers.shellwords import scan_word, skip_blanks, split_words
from preflight.records import NamedTuple
from preflight.text import VERBATIM, Document, Located, Text

_READ = frozenset({"ARG", "FROM", "ENV", "ENTRYPOINT", "CMD", "RUN", "COPY", "ADD"})
_WORD = re.compile(r"[ \t]*([A-Za-z]+)(?!\\)\b")
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
_HEREDOC = re.compile(r"<<-?([\"']?)(\w+)\1")
_PAIR = re.compile(r"[A-Za-z_]\w*=")
_CODEC = ContinuedCodec("", comments=True)
_NOTHING = Program((), (), frozenset())


class Instruction(NamedTuple):
    name: str
    text: Text
    start: int
    """Where its arguments start in `text`."""


def instructions(document: Document) -> Iterator[Instruction]:
    until: str | None = None
    for line in logical_lines(document.text):
        word = _WORD.match(document.text, line.start)
        if until is None and word is not None and word[1].upper() not in _READ:
            continue
        text = line_text(document, line.start, line.end, _CODEC)
        if until is not None:  # inside a here-document of RUN or COPY
            until = None if text.value.strip() == until else until
            continue
        match = _INSTRUCTION.match(text.value)
        if match is None:
            continue
        name = match.group(1).upper()
        heredoc = _HEREDOC.search(text.value) if name in ("RUN", "COPY", "ADD") else None
        until = heredoc.group(2) if heredoc else None
        yield Instruction(name, text, match.end())


class _Stage:
    """What one build stage sets."""

    def __init__(self, image: Token | None, versions: dict[str, Located[str]]) -> None:
        self.image = image
        self.versions = versions
        self.env: list[EnvVar] = []
        self.entrypoint: Instruction | None = None
        self.command: Instruction | None = None


def read(document: Document) -> Reading:
    arguments: dict[str, Token] = {}
    stages: dict[str, _Stage] = {}
    stage = _Stage(None, {})
    for instruction in instructions(document):
        if instruction.name == "ARG":
            for variable in _pairs(instruction, arguments):
                arguments[variable.name] = variable.token._replace(state="default")
        elif instruction.name == "FROM":
            stage = _from(instruction, arguments, stages)
        elif instruction.name == "ENV":
            stage.env.extend(_pairs(instruction, arguments))
        elif instruction.name == "ENTRYPOINT":
            stage.entrypoint, stage.command = instruction, None
        elif instruction.name == "CMD":
            stage.command = instruction
        elif instruction.name == "RUN" and "==" in instruction.text.value:
            _pins(instruction, stage)
    return Reading(tuple(distinct(_sites(stage, document))))


def _from(instruction: Instruction, arguments: dict[str, Token], stages: dict[str, _Stage]) -> _Stage:
    text = instruction.text
    words = [word for word in split_words(text.value, instruction.start, len(text.value)) if not _option(text, word.start)]
    if not words:
        return _Stage(None, {})
    scope = Scope(Script(text), _NOTHING, None, arguments)
    token = scope.single(Script(text), words[0], Use((), 0))
    base = stages.get(token.text.lower())
    stage = _Stage(token, image_versions(token)) if base is None else _Stage(base.image, dict(base.versions))
    if base is not None:
        stage.env, stage.entrypoint, stage.command = list(base.env), base.entrypoint, base.command
    if len(words) >= 3 and (words[1].literal or "").lower() == "as" and words[2].literal:
        stages[words[2].literal.lower()] = stage
    return stage


def _option(text: Text, start: int) -> bool:
    return text.value.startswith("--", start)


def _pairs(instruction: Instruction, known: dict[str, Token]) -> Iterator[EnvVar]:
    """`A=b C="d e"`, or the old `A b c`."""
    text, at, end = instruction.text, instruction.start, len(instruction.text.value)
    script = Script(text)
    scope = Scope(script, _NOTHING, None, known)
    first = _PAIR.match(text.value, at)
    if first is None:
        words = split_words(text.value, at, end)
        if len(words) >= 2 and words[0].literal:
            value = text.inner(words[1].start, words[-1].end, WordCodec(quoting_of(text.value[words[1].start : words[-1].end])))
            if value is not None:
                yield EnvVar(words[0].literal, Token(value.value, value, value), text.place_of(words[0].start, words[0].end))
        return
    while (match := _PAIR.match(text.value, skip_blanks(text.value, at, end))) is not None:
        word = scan_word(text.value, match.end(), end)
        token = scope.single(script, word, Use((), 0))
        yield EnvVar(match.group()[:-1], token, text.place_of(match.start(), match.end() - 1))
        at = word.end


def _pins(instruction: Instruction, stage: _Stage) -> None:
    """Versions that a `RUN pip install` pins: later than what the base image brings."""
    text = instruction.text
    for word in split_words(text.value, instruction.start, len(text.value)):
        if word.literal is not None and "==" in word.literal:
            inner = text.inner(word.start, word.end, WordCodec(quoting_of(text.value[word.start : word.end])))
            pin = pinned_version(inner) if inner is not None else None
            if pin is not None:
                stage.versions[pin[0]] = pin[1]


def _sites(stage: _Stage, document: Document) -> Iterator[LaunchSite]:
    image = stage.image
    context = Context(
        document,
        "dockerfile",
        image=Located(image.value, image.place) if image is not None and image.value else None,
        versions=stage.versions,
        env=tuple(stage.env),
    )
    entrypoint = _words(stage.entrypoint)
    command = _words(stage.command)
    if stage.entrypoint is not None and entrypoint is None:  # shell form: CMD is not used
        yield from _shell(stage.entrypoint, context)
        return
    if stage.command is not None and command is None:
        if stage.entrypoint is None:
            yield from _shell(stage.command, context)
        return
    if entrypoint is None and command is None:
        return
    owner = stage.entrypoint or stage.command
    assert owner is not None
    context = context._replace(whole=stage.command is not None, extent=owner.text.place)
    yield from container_sites(entrypoint, command or [], image, context)


def _words(instruction: Instruction | None) -> list[Argument] | None:
    if instruction is None:
        return None
    return array_arguments(instruction.text, instruction.start, len(instruction.text.value))


def _shell(instruction: Instruction, context: Context) -> Iterator[LaunchSite]:
    text = instruction.text.inner(instruction.start, len(instruction.text.value), VERBATIM)
    assert text is not None  # the layer that changes nothing reads everything
    yield from script_sites(Script(text), context._replace(extent=instruction.text.place))
