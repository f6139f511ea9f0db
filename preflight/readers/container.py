"""A container: an image, its entrypoint and command, and the launch that they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from preflight.launch import DEFAULT, OPAQUE, UNKNOWN_STATE, EnvVar, LaunchSite, Token
from preflight.readers.editing import Argument, Slot
from preflight.readers.images import parse_image
from preflight.readers.listedit import list_container
from preflight.readers.script import CONDITIONAL, Script, Use, references
from preflight.readers.shell import Context, command_sites, doubled, image_site
from preflight.readers.shellscope import Scope
from preflight.readers.shelltree import Program
from preflight.readers.shellvars import names_flags
from preflight.readers.shellwords import PLACEHOLDER, STAND_IN, shown, split_words
from preflight.readers.yamltree import Node, Scalar
from preflight.readers.yamltree import Sequence as ListNode
from preflight.text import Place, Text

Filler = Callable[[Text], Script]
_HOLE = re.compile(r"\$\{[^}]*\}\Z")
_FLAGS = re.compile(r"-|\s|\Z")
_NOTHING = Program((), (), frozenset())
_NOWHERE = Use((), 0)


def script_token(script: Script) -> Token:
    """The whole of a filled-in text as one word."""
    text = script.text
    if any(region.state == CONDITIONAL for region in script.regions):
        certain = Script(text, [region for region in script.regions if region.state != CONDITIONAL])
        return script_token(certain)._replace(conditional=True)
    if PLACEHOLDER.fullmatch(text.value):
        return Token(None, text, text, UNKNOWN_STATE, pattern="${" + text.value[1:-1] + "}")
    if not script.regions and STAND_IN not in text.value:
        return Token(text.value, text, text)
    if STAND_IN in text.value or any(region.state == UNKNOWN_STATE for region in script.regions):
        pattern, at = [], 0
        for region in script.regions:
            if region.state == UNKNOWN_STATE:
                pattern += [text.value[at : region.start], "${" + region.name + "}"]
                at = region.end
        return Token(None, text, None, UNKNOWN_STATE, pattern=shown("".join([*pattern, text.value[at:]])))
    state = DEFAULT if any(region.state == DEFAULT for region in script.regions) else script.regions[0].state
    first = script.regions[0]
    whole = len(script.regions) == 1 and first.end - first.start == len(text.value)
    source = text if first.definition is None else first.source if whole else None
    return Token(text.value, text, source, state, first.definition)


def variable(name: str, token: Token, place: Place) -> EnvVar:
    """A variable of a container. Where the file uses it more than once, its value is not for one launch to change."""
    uses = references(place.document.text).get(name, 0)
    return EnvVar(name, token._replace(source=None) if uses > 1 else token, place)


def node_token(node: Scalar, fill: Filler) -> Token:
    return script_token(fill(node.text))


def list_arguments(node: Node | None, fill: Filler, *, shared: bool = False) -> tuple[list[Argument], bool]:
    """The words of `command:` (a list, or a text split into words), and whether nothing else can add to them."""
    if isinstance(node, Scalar):
        return text_arguments(fill(node.text), shared=shared or node.uses > 1)
    if not isinstance(node, ListNode):
        return [], node is None
    container = list_container(node)
    shared = shared or node.uses > 1
    found: list[Argument] = []
    whole = True
    for number, item in enumerate(node.items):
        if not isinstance(item, Scalar):
            whole = False
            continue
        script = fill(item.text)
        token = script_token(script)
        slot = None if shared or item.uses > 1 else Slot(container, number)
        if token.value is None and token.pattern is not None and len(found) > 1 and _HOLE.match(token.pattern):
            before = found[-1].token.text
            if names_flags(token.pattern[2:-1]) or not (before == "serve" or (before.startswith("-") and "=" not in before)):
                token = token._replace(state=OPAQUE)
        found.append(Argument(token if slot else token._replace(source=None), slot, slot, script))
    return found, whole


def text_arguments(script: Script, *, shared: bool = False) -> tuple[list[Argument], bool]:
    """The words of a command that is one text, which compose and exec forms split without a shell."""
    plain = Script(script.text, script.regions, plain=True)
    value = script.text.value
    words = split_words(value, 0, len(value), plain.holes, plain=True)
    arguments = Scope(plain, _NOTHING).arguments(plain, words, _NOWHERE, shared=shared)
    whole = True
    for region in script.regions:
        if region.state == DEFAULT and (
            _FLAGS.match(value[region.start : region.end]) or " " in value[region.start : region.end]
        ):
            whole = False
    for number, argument in enumerate(arguments):
        token = argument.token
        if token.value is None and token.pattern is not None and token.pattern.startswith("${") and token.pattern.count("}") == 1:
            before = arguments[number - 1].token.text if number else "-"
            flag = before.startswith("-") and "=" not in before
            if token.pattern.endswith("}") and (names_flags(token.pattern[2:-1]) or not (flag or before == "serve")):
                arguments[number] = argument._replace(token=token._replace(state=OPAQUE), slot=None)
    return arguments, whole


def container_sites(
    entrypoint: Sequence[Argument] | None, command: Sequence[Argument], image: Token | None, context: Context
) -> Iterator[LaunchSite]:
    """The launches of a container. `entrypoint` None: the image's own."""
    arguments = [*(entrypoint or ()), *command]
    environment = {variable.name: variable.token for variable in context.env}
    scope = Scope(Script(context_text(context)), _NOTHING, None, environment)
    nested = list(command_sites(arguments, scope, _NOWHERE, context)) if arguments else []
    serves = entrypoint is None and image is not None and parse_image(image.text).serves
    for site in nested:
        yield doubled(site) if serves else site
    if not nested and entrypoint is None and image is not None and arguments:
        yield from image_site(arguments, Argument(image, None, None), context)


def context_text(context: Context) -> Text:
    text = Text.of(context.document, 0, 0)
    assert text is not None
    return text
