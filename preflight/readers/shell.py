"""Launches in shell: scripts, batch jobs, and every text that another format hands to a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from preflight.launch import KNOWN, NOWHERE_SPECIAL, OPAQUE, EnvVar, LaunchSite, Port, Reading, Surroundings, Table, Token
from preflight.readers.counts import whole
from preflight.readers.devices import device_count, device_numbers, published
from preflight.readers.editing import Argument, SlotEditor
from preflight.readers.images import image_versions, parse_image, pinned_version
from preflight.readers.script import Script, Use
from preflight.readers.shellcodec import ScriptCodec, quoting_of
from preflight.readers.shellenv import variables
from preflight.readers.shellparse import parse
from preflight.readers.shellscope import Scope
from preflight.readers.shelltree import Command, Heredoc, Program
from preflight.readers.shellwords import VARIABLE, Word
from preflight.readers.words import ANCHOR, base_name, docker_run, find_launch, nested_shell, script_words, silent
from preflight.records import NamedTuple
from preflight.text import VERBATIM, Document, Located, Place, Text

_DEPTH = 6
_DEVICES = re.compile(r"(?:CUDA|HIP|ROCR|NVIDIA)_VISIBLE_DEVICES\Z")
_ENDS = re.compile(r"(?:^|[_-])(?:p?kill|killall|wait|stop|shutdown|cleanup|teardown|fuser)(?:$|[_-])")
_DEVICE_LIST = re.compile(r"\d+(?:,\d+)*\Z")
_BACKGROUND = re.compile(r"[^\n;&|]*(?:>&\d[^\n;&|]*)*&(?![&>\d])")
"""From the last word of a command, over redirections, to the sign that it runs on in the background."""


class Context(NamedTuple):
    """What is known around a command: its file, and the container it runs in."""

    document: Document
    kind: str
    name: str | None = None
    image: Located[str] | None = None
    versions: Mapping[str, Located[str]] = {}
    """By engine: what an image or a pinned package says."""
    gpus: Located[int] | None = None
    hardware: Table = {}
    env: tuple[EnvVar, ...] = ()
    around: Surroundings = NOWHERE_SPECIAL
    extent: Place | None = None
    whole: bool = True
    """False where something else may add flags to the command."""


def read(document: Document) -> Reading:
    text = Text.of(document, 0, len(document.text), VERBATIM)
    if text is None or ANCHOR.search(document.text) is None:
        return Reading(())
    context = Context(document, "shell")
    if "#SBATCH" in document.text:
        from preflight.readers.slurm import batch_context

        context = batch_context(context)
    return Reading(tuple(distinct(script_sites(Script(text), context))))


def distinct(sites: Iterator[LaunchSite]) -> Iterator[LaunchSite]:
    """Each launch once: an array that two branches start is one command as written."""
    seen = set()
    for site in sites:
        key = (site.head.span, tuple((token.at.place.span, token.value) for token in site.argv))
        if key not in seen:
            seen.add(key)
            yield site


def script_sites(
    script: Script,
    context: Context,
    parent: tuple[Scope, Use] | None = None,
    positional: Sequence[Argument] | None = None,
    depth: int = 0,
) -> Iterator[LaunchSite]:
    """The launches of a shell text."""
    value = script.text.value
    program = parse(value, 0, len(value), script.holes)
    environment = {variable.name: variable.token for variable in context.env}
    scope = Scope(script, program, parent, environment, positional)
    context = _pinned(program, script, context)
    for command in program.commands:
        for heredoc in command.heredocs:
            yield from _heredoc(script, command, heredoc, scope, context, depth)
        if not _relevant(value, command, scope):
            continue
        use = Use(command.branch, command.start)
        arguments = scope.arguments(script, command.words, use)
        place = script.text.place_of(command.start, command.end)
        local = context._replace(env=variables(scope, command, use, context.env))
        if context.extent is None:
            local = local._replace(extent=place)
        background = _BACKGROUND.match(value, command.end) is not None
        if command.branch or background:
            around = local.around
            stays = (around.stays or background) and not _ended(program, command, value)
            local = local._replace(around=around._replace(certain=around.certain and not command.branch, stays=stays))
        yield from command_sites(arguments, scope, use, local, depth)


def _relevant(value: str, command: Command, scope: Scope) -> bool:
    """Whether it is worth evaluating: it names an engine or a container run, or starts with a variable."""
    if ANCHOR.search(value, command.start, command.end):
        return True
    for word in command.words[:4]:
        part = word.parts[0] if word.parts else None
        if part is not None and part.kind == VARIABLE:
            return True
    return bool(command.words) and command.words[0].literal in ("docker", "podman", "nerdctl", "sudo", "eval")


def command_sites(
    arguments: Sequence[Argument], scope: Scope, use: Use, context: Context, depth: int = 0
) -> Iterator[LaunchSite]:
    """The launches of one command."""
    if not arguments or depth > _DEPTH or silent(arguments):
        return
    run = docker_run(arguments)
    if run is not None:
        context = _container(arguments, run.image, run.options, context)
        command = arguments[run.image + 1 :]
        if run.entrypoint is not None:
            entry = arguments[run.entrypoint]
            if entry.token.text.startswith("--entrypoint="):
                entry = entry._replace(token=entry.token._replace(value=entry.token.text.partition("=")[2]))
            command = [entry, *command] if entry.token.text else command
        nested = list(command_sites(command, scope, use, context, depth + 1)) if command else []
        if nested:
            serves = run.entrypoint is None and parse_image(arguments[run.image].token.text).serves
            yield from (doubled(found) if serves else found for found in nested)
        elif run.entrypoint is None:
            yield from image_site(arguments[run.image + 1 :], arguments[run.image], context)
        return
    script_at = nested_shell(arguments)
    if script_at is not None:
        found = find_launch(arguments[:script_at])
        if found is None:
            yield from _nested(arguments, script_at, scope, use, context, depth)
            return
    if base_name(arguments[0].token) == "eval" or _is_text(arguments):
        arguments = _evaluated(arguments, scope, use)
    site = launch_site(arguments, context)
    if site is not None:
        yield site
        return
    for index in script_words(arguments):
        yield from _nested(arguments[: index + 1], index, scope, use, context, depth)


def _is_text(arguments: Sequence[Argument]) -> bool:
    return len(arguments) > 1 and base_name(arguments[0].token) in ("ssh", "tmux", "screen", "srun", "exec", "nohup")


def _evaluated(arguments: Sequence[Argument], scope: Scope, use: Use) -> list[Argument]:
    """Words in which `"$CMD"` is split like `$CMD`: what `eval` does."""
    found: list[Argument] = []
    for argument in arguments:
        if isinstance(argument.origin, tuple):
            script, word = argument.origin
            part = word.parts[0] if len(word.parts) == 1 else None
            if part is not None and part.kind == VARIABLE and part.quoted and not part.subscript and argument.token.value is None:
                bare = Word(word.start, word.end, (part._replace(quoted=False),))
                found.extend(scope.arguments(script, [bare], use))
                continue
        found.append(argument)
    return found


def launch_site(arguments: Sequence[Argument], context: Context) -> LaunchSite | None:
    """The launch that these words are, if they are one."""
    found = find_launch(arguments)
    if found is None:
        return None
    head, entry_word = arguments[found.head], arguments[found.first - 1]
    entry = found.entry
    return site(entry, found.engine, head.token, arguments[found.first :], entry_word, context)


def image_site(arguments: Sequence[Argument], image: Argument, context: Context) -> Iterator[LaunchSite]:
    """The launch that an image's own entrypoint is, given `arguments`."""
    parsed = parse_image(image.token.text)
    if parsed.engine is None or not (parsed.serves or _engine_flags(arguments)):
        return
    if arguments and not arguments[0].token.text.startswith("-") and not parsed.serves:
        return
    head = arguments[0].token if arguments else image.token
    yield site("image", parsed.engine, head, arguments, image, context)


def doubled(found: LaunchSite) -> LaunchSite:
    """A command that is handed to an image whose entrypoint already is the server."""
    entry = found.entry
    return found if entry is None else found._replace(entry=Located("image + " + entry.value, entry.place))


_MODEL_FLAG = re.compile(r"--model(?:-path)?(?:=|\Z)")


def _engine_flags(arguments: Sequence[Argument]) -> bool:
    """Whether bare flags can only be an engine's: the first is a flag, and one names the model."""
    return bool(arguments) and any(_MODEL_FLAG.match(argument.token.text) for argument in arguments)


_DIFFUSION = re.compile(r"--(?:num-gpus|ulysses-degree|ring-degree|model-type=diffusion|vae-[\w-]+)(?:=|\Z)")


def _draws(argv: Sequence[Argument]) -> bool:
    """Whether `sglang serve` serves a diffusion model: another parser reads its flags then, which no engine here knows."""
    texts = [argument.token.text for argument in argv]
    return any(_DIFFUSION.match(text) for text in texts) or ("--model-type", "diffusion") in pairwise(texts)


def site(entry: str, engine: str, head: Token, argv: Sequence[Argument], entry_word: Argument, context: Context) -> LaunchSite:
    complete = context.whole and all(argument.token.state != OPAQUE for argument in argv)
    gpus = _visible(context.env) or context.gpus
    return LaunchSite(
        document=context.document,
        kind=context.kind,
        head=head.place,
        engine=None if entry == "sglang serve" and _draws(argv) else engine,
        argv=tuple(argument.token for argument in argv),
        complete=complete,
        editor=SlotEditor(entry_word.tail, argv),
        env=context.env,
        version=context.versions.get(engine),
        image=context.image,
        gpus=gpus,
        hardware=context.hardware,
        name=context.name,
        entry=Located(entry, entry_word.token.place),
        around=_seen(context),
        extent=context.extent,
    )


def _seen(context: Context) -> Surroundings:
    """With the GPUs that a literal list of visible devices names."""
    visible = _visible(context.env)
    if visible is None or context.kind == "kubernetes":
        return context.around
    variable = next(variable for variable in context.env if variable.token.place == visible.place)
    numbers = tuple((variable.token.value or "").split(","))
    outer = context.around.devices
    if outer is not None:  # inside a container they are counted anew
        if variable.name.startswith("NVIDIA") or any((whole(number) or 0) >= len(outer.value) for number in numbers):
            return context.around
        numbers = tuple(outer.value[whole(number) or 0] for number in numbers)
    return context.around._replace(devices=Located(numbers, visible.place))


# -- scripts inside --------------------------------------------------------------------------------------------------------


def _nested(
    arguments: Sequence[Argument], index: int, scope: Scope, use: Use, context: Context, depth: int
) -> Iterator[LaunchSite]:
    """`bash -c SCRIPT NAME ARGUMENTS…`."""
    origin = arguments[index].origin
    rest = arguments[index + 2 :]
    if depth > _DEPTH:
        return
    if isinstance(origin, Script):
        yield from script_sites(origin, context, (scope, use), rest, depth + 1)
        return
    if not isinstance(origin, tuple):
        return
    script, word = origin
    part = word.parts[0] if len(word.parts) == 1 else None
    if part is not None and part.kind == VARIABLE:
        bare = Word(word.start, word.end, (part._replace(quoted=False, operator=""),))
        yield from command_sites(scope.arguments(script, [bare], use), scope, use, context, depth + 1)
        return
    codec = ScriptCodec(quoting_of(script.text.value[word.start : word.end]), plain=script.plain)
    inner = script.cut(word, codec, scope, use)
    if inner is not None:
        yield from script_sites(inner, context, (scope, use), rest, depth + 1)


def _heredoc(
    script: Script, command: Command, heredoc: Heredoc, scope: Scope, context: Context, depth: int
) -> Iterator[LaunchSite]:
    if depth > _DEPTH or ANCHOR.search(script.text.value, heredoc.start, heredoc.end) is None:
        return
    from preflight.readers.heredocs import heredoc_sites

    yield from heredoc_sites(script, command, heredoc, scope, context, depth)


# -- what surrounds a command ----------------------------------------------------------------------------------------------


def _pinned(program: Program, script: Script, context: Context) -> Context:
    """The version that a `pip install` of the script pins."""
    if "==" not in script.text.value:
        return context
    versions = dict(context.versions)
    for command in program.commands:
        for word in command.words:
            literal = word.literal
            if literal is not None and "==" in literal:
                text = script.text.inner(word.start, word.end, ScriptCodec(quoting_of(script.text.value[word.start : word.end])))
                pin = pinned_version(text) if text is not None else None
                if pin is not None:
                    versions.setdefault(*pin)
    return context._replace(versions=versions)


def _ended(program: Program, command: Command, value: str) -> bool:
    """Whether the script may end what it started before it starts another one."""
    for other in program.commands:
        name = other.words[0].literal if other.words else None
        second = other.words[1].literal if len(other.words) > 1 else None
        ends = name is not None and (_ENDS.search(name) or (name in ("docker", "podman") and second in ("stop", "rm", "kill")))
        if ends and other.start > command.end and ANCHOR.search(value, other.end):
            return True
    return False


def _visible(env: Sequence[EnvVar]) -> Located[int] | None:
    """GPUs by a literal list of visible devices; the last one counts."""
    token = next((variable.token for variable in reversed(env) if _DEVICES.match(variable.name)), None)
    if token is None or token.value is None or token.state != KNOWN or token.conditional:
        return None
    return Located(token.value.count(",") + 1, token.place) if _DEVICE_LIST.match(token.value) else None


def _container(arguments: Sequence[Argument], image: int, options: Sequence[tuple[str, Token, int]], context: Context) -> Context:
    """The context inside `docker run`: the variables outside are not those inside."""
    token = arguments[image].token
    located = Located(token.value, token.place) if token.value else None
    gpus: Located[int] | None = None
    env: list[EnvVar] = []
    ports: list[Port] = []
    around = context.around._replace(devices=None, ports=())
    for name, value, skip in options:
        if value.value is None:
            continue
        text = value.value[skip:]
        if name == "--gpus":
            gpus = device_count(text, value.place)
            around = around._replace(devices=device_numbers(text, value.place))
        elif name in ("-p", "--publish") and (port := published(text)) is not None:
            ports.append(Port(port, value.place, "ports"))
        elif name in ("--network", "--net"):
            around = around._replace(on_host_network=text == "host")
        elif name in ("-e", "--env") and "=" in text:
            variable = _option_variable(value, skip)
            if variable is not None:
                env.append(variable)
    versions = image_versions(token)
    switches = {argument.token.text for argument in arguments[:image]}
    around = around._replace(
        ports=tuple(ports),
        stays=around.stays or not switches.isdisjoint(("-d", "--detach", "-dit", "-itd")),
        sees_only_its_gpus="--privileged" not in switches,
    )
    return context._replace(image=located, versions=versions, gpus=gpus, env=tuple(env), around=around)


def _option_variable(token: Token, skip: int) -> EnvVar | None:
    assert token.value is not None
    name, _equals, text = token.value[skip:].partition("=")
    if token.at.value != token.value:
        return EnvVar(name, token._replace(value=text, source=None), token.place)
    start = skip + len(name) + 1
    inner = token.at.inner(start, len(token.value))
    if inner is None:
        return None
    return EnvVar(name, Token(text, inner, inner, token.state), token.at.place_of(skip, skip + len(name)))
