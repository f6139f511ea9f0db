"""What job files say around a script: SkyPilot and dstack variables and GPUs, Helm values beside a list of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from preflight.launch import LaunchSite, Token
from preflight.readers.container import list_arguments, text_arguments
from preflight.readers.counts import count
from preflight.readers.editing import SlotEditor
from preflight.readers.flagmap import KNOWN_FLAGS, flag_named, value_token
from preflight.readers.images import image_versions
from preflight.readers.script import Script
from preflight.readers.shell import Context
from preflight.readers.yamltree import Mapping, Node, Scalar
from preflight.readers.yamltree import Sequence as ListNode
from preflight.text import Located

_ARGUMENTS = re.compile(r"(?:extra|server|engine|sglang|vllm|additional)_?-?args$|^args$", re.I)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENGINE = re.compile(r"sglang|vllm", re.I)
_ACCELERATOR = re.compile(r"([A-Za-z][\w.-]*?)(?::(\d+))?\Z")
_SCRIPT_KEYS = ("run", "commands", "setup")


def job_context(node: Mapping, context: Context) -> Context:
    """A mapping with a script gives its variables and its GPUs to the script."""
    if not any(node.get(key) is not None for key in _SCRIPT_KEYS):
        return context
    from preflight.readers.kubernetes import environment

    context = context._replace(kind="job")
    variables = node.get("envs") or node.get("env")
    if variables is not None:
        context = context._replace(env=(*context.env, *environment(variables)))
    resources = node.get("resources")
    wanted = resources.get("accelerators") or resources.get("gpu") if isinstance(resources, Mapping) else None
    return _accelerators(wanted or node.get("gpu"), context)


def _accelerators(node: Node | None, context: Context) -> Context:
    """`H100:8`; of `{A: 1, B: 1}` any will do: the count is known where all agree, the type where there is one."""
    choices = list(_choices(node))
    counts = {count or "1" for _name, count, _node in choices}
    single = counts.pop() if len(counts) == 1 else ""
    number = count(single)
    if number is not None:
        context = context._replace(gpus=Located(number, choices[0][2].place))
    if len(choices) == 1:
        context = context._replace(hardware={**context.hardware, "gpu": Located(choices[0][0], choices[0][2].place)})
    return context


def _choices(node: Node | None) -> Iterator[tuple[str, str | None, Scalar]]:
    if isinstance(node, Scalar):
        match = _ACCELERATOR.match(node.value)
        if match is not None:
            yield match.group(1), match.group(2), node
    elif isinstance(node, Mapping):
        name, count = node.get("name"), node.get("count")
        if isinstance(name, Scalar) and isinstance(count, Scalar):
            yield name.value, count.value, count
        elif count is None:
            for key, value in node.pairs:
                if isinstance(value, Scalar):
                    yield key.value, value.value, value


def values_sites(node: Mapping, path: Sequence[str], context: Context) -> Iterator[LaunchSite]:
    """Arguments in Helm values: `extraArgs` beside an image or an engine's name; a chart adds more."""
    for key, value in node.pairs:
        if key.value in ("vllmConfig", "sglangConfig") and isinstance(value, Mapping):
            yield from _camel_site(node, key, value, context)
        elif _ARGUMENTS.search(key.value) and node.get("command") is None:
            engine = _engine(node, key, path)
            if engine is not None:
                yield from _argument_site(node, value, engine, context)


def _engine(node: Mapping, key: Scalar, path: Sequence[str]) -> str | None:
    """The engine that the surroundings of an argument list name: its key, its neighbours, the keys above."""
    for text in (key.value, *_neighbours(node), *reversed(path)):
        found = _ENGINE.search(text)
        if found is not None and "router" not in text.lower():
            return found.group().lower()
    return None


def _neighbours(node: Mapping) -> Iterator[str]:
    for _key, value in node.pairs:
        if isinstance(value, Scalar) and len(value.value) < 200 and "\n" not in value.value:
            yield value.value
        elif isinstance(value, Mapping):
            repository = value.get("repository")
            if isinstance(repository, Scalar):
                yield repository.value


def _argument_site(node: Mapping, value: Node, engine: str, context: Context) -> Iterator[LaunchSite]:
    if isinstance(value, Scalar):
        if not value.value.lstrip().startswith("--"):
            return
        arguments, _whole = text_arguments(Script(value.text))
    else:
        arguments, _whole = list_arguments(value, Script)
    if not arguments or not arguments[0].token.text.startswith("--"):
        return
    if not any(argument.token.text.partition("=")[0] in KNOWN_FLAGS for argument in arguments):
        return
    context = _image(node, context)
    yield LaunchSite(
        document=context.document,
        kind="values",
        head=arguments[0].token.place,
        engine=engine,
        argv=tuple(argument.token for argument in arguments),
        complete=False,
        editor=SlotEditor(None, arguments),
        env=context.env,
        version=context.versions.get(engine),
        image=context.image,
        gpus=context.gpus,
        hardware=context.hardware,
        entry=Located("config", arguments[0].token.place),
        extent=value.place,
    )


def _image(node: Mapping, context: Context) -> Context:
    """`image: x:tag`, or `repository` and `tag` side by side or under `image`."""
    image = node.get("image")
    holder = image if isinstance(image, Mapping) else node
    token: Token | None = None
    if isinstance(image, Scalar):
        token = value_token(image)
    else:
        repository, tag = holder.get("repository"), holder.get("tag")
        if isinstance(repository, Scalar) and isinstance(tag, Scalar) and repository.value and tag.value:
            token = Token(f"{repository.value}:{tag.value}", tag.text, None)
    if token is None or token.value is None:
        return context
    return context._replace(image=Located(token.value, token.place), versions=image_versions(token))


def _camel_site(node: Mapping, key: Scalar, config: Mapping, context: Context) -> Iterator[LaunchSite]:
    """`vllmConfig: {tensorParallelSize: 2, extraArgs: [...]}` of a production stack."""
    tokens: list[Token] = []
    for name, value in config.pairs:
        flag = "--" + _CAMEL.sub("-", name.value).lower()
        if name.value == "extraArgs" and isinstance(value, ListNode):
            tokens += [argument.token for argument in list_arguments(value, Script)[0]]
        elif flag in KNOWN_FLAGS and isinstance(value, Scalar):
            if value.plain and value.value.lower() == "false":
                continue
            tokens.append(flag_named(flag, name))
            if not (value.plain and value.value.lower() == "true"):
                tokens.append(value_token(value))
    if not tokens:
        return
    context = _image(node, context)
    gpus, label = node.get("requestGPU"), node.get("name")
    engine = key.value[: -len("Config")]
    yield LaunchSite(
        document=context.document,
        kind="values",
        head=config.pairs[0][0].place,
        engine=engine,
        argv=tuple(tokens),
        complete=False,
        editor=SlotEditor(None, ()),
        version=context.versions.get(engine),
        image=context.image,
        gpus=Located(number, gpus.place) if isinstance(gpus, Scalar) and (number := count(gpus.value)) else None,
        name=label.value if isinstance(label, Scalar) else None,
        entry=Located("config", key.place),
        extent=config.place,
    )
