"""Kubernetes and its relatives: any mapping with an image and a command, at any depth, in any kind of object."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.launch import EnvVar, LaunchSite, Token
from preflight.readers import pods
from preflight.readers.container import container_sites, list_arguments, node_token, script_token, variable
from preflight.readers.counts import count
from preflight.readers.fill import kubernetes_script
from preflight.readers.flagmap import map_engine, map_site, recipe_context
from preflight.readers.images import image_versions
from preflight.readers.jobs import job_context, values_sites
from preflight.readers.pods import Pod, Service
from preflight.readers.script import Script
from preflight.readers.shell import Context, script_sites
from preflight.readers.words import ANCHOR
from preflight.readers.yamltree import Mapping, Node, Scalar, Sequence
from preflight.records import NamedTuple
from preflight.text import Located, Text

_DEPTH = 60
_SCRIPT_KEY = re.compile(r"(?:^|[_.-])(?:run|cmd|command|commands|script|entrypoint|exec|launch|start|setup|sh|bash)$", re.I)
_PROSE_KEY = re.compile(r"description|readme|notes?$|help|message|summary|comment|title|\.md$|\.txt$|\.py$|\.json$|\.toml$", re.I)
_GPU = re.compile(r"(?:nvidia|amd)\.com/gpu$|^gpu$")
_PRODUCT = re.compile(r"gpu\.product$|gke-accelerator$|gpu[.-]type$|gpu-model$", re.I)


class _Around(NamedTuple):
    """What the objects around a container say of it."""

    hardware: dict[str, Located[object]]
    images: dict[str, Scalar]
    pod: Pod
    services: tuple[Service, ...]


def walk(root: Node, context: Context, services: tuple[Service, ...] = ()) -> Iterator[LaunchSite]:
    """The launches of one document. `services`: those of the whole file."""
    around = _Around({}, _images(root), Pod(), services)
    yield from _visit(root, (), around, context, set(), root)


def _images(root: Node) -> dict[str, Scalar]:
    """Images by container name: a patch may name a container whose image stands elsewhere."""
    found: dict[str, Scalar] = {}
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Mapping):
            name, image = node.get("name"), node.get("image")
            if isinstance(name, Scalar) and isinstance(image, Scalar):
                found.setdefault(name.value, image)
            stack.extend(value for _key, value in node.pairs)
        elif isinstance(node, Sequence):
            stack.extend(node.items)
    return found


def _visit(
    node: Node, path: tuple[str, ...], around: _Around, context: Context, seen: set[int], root: Node
) -> Iterator[LaunchSite]:
    if len(path) > _DEPTH or id(node) in seen:
        return
    if isinstance(node, Scalar):
        yield from _text(node, path[-1] if path else "", context)
        return
    if node.uses > 1:  # an alias is the same node again: once is enough, and nodes of nodes would be without end
        seen.add(id(node))
    if isinstance(node, Sequence):
        for item in node.items:
            yield from _visit(item, (*path, path[-1] if path else ""), around, context, seen, root)
        return
    engine = map_engine(node, path)
    if engine is not None:
        site = map_site(node, engine, recipe_context(root, path, context))
        if site is not None:
            yield site
            return
    around = _surroundings(node, around)
    context = job_context(node, context)
    consumed: set[str] = set()
    if node.get("command") is not None or node.get("args") is not None:
        found = list(_container(node, around, context))
        if found:
            consumed = {"command", "args"}
            yield from found
    if not consumed:
        yield from values_sites(node, path, context)
        consumed = {"vllmConfig", "sglangConfig"}
    for inner, value in node.entries():
        if inner.value not in consumed:
            yield from _visit(value, (*path, inner.value), around, context, seen, root)


def _surroundings(node: Mapping, around: _Around) -> _Around:
    hardware = dict(around.hardware)
    for key, value in node.pairs:
        if isinstance(value, Scalar) and (number := count(value.value)) is not None:
            lws = key.value == "size" and node.get("workerTemplate") is not None
            if lws or key.value in ("nodeCount", "numNodes", "num_nodes"):
                hardware["nodes"] = Located(number, value.place)
        elif key.value == "multinode" and isinstance(value, Mapping):
            nodes = value.get("nodeCount")
            if isinstance(nodes, Scalar) and (number := count(nodes.value)) is not None:
                hardware["nodes"] = Located(number, nodes.place)
        elif key.value == "nodeSelector" and isinstance(value, Mapping):
            for label, product in value.pairs:
                if isinstance(product, Scalar) and _PRODUCT.search(label.value):
                    hardware["gpu"] = Located(product.value, product.place)
    return around._replace(hardware=hardware, pod=pods.around(around.pod, node))


def _container(node: Mapping, around: _Around, context: Context) -> Iterator[LaunchSite]:
    name, image_node = node.get("name"), node.get("image")
    if image_node is None and isinstance(name, Scalar):
        image_node = around.images.get(name.value)
    image = node_token(image_node, Script) if isinstance(image_node, Scalar) else None
    env = tuple(environment(node.get("env")))
    known = {entry.name: entry.token for entry in env}

    def fill(text: Text) -> Script:
        return kubernetes_script(text, known)

    shared = node.uses > 1
    command_node, args_node = node.get("command"), node.get("args")
    command, command_whole = list_arguments(command_node, fill, shared=shared)
    args, args_whole = list_arguments(args_node, fill, shared=shared)
    context = context._replace(
        kind="kubernetes",
        name=name.value if isinstance(name, Scalar) else context.name,
        image=Located(image.value, image.place) if image is not None and image.value else None,
        versions=image_versions(image) if image is not None else {},
        gpus=_limit(node),
        hardware=around.hardware,
        env=env,
        whole=command_whole and args_whole,
        around=pods.surroundings(around.pod, node, around.services),
        extent=node.place,
    )
    yield from container_sites(command if command_node is not None else None, args, image, context)


def environment(node: Node | None) -> Iterator[EnvVar]:
    """`env:` as a list of name and value; a value from elsewhere is unknown. Earlier entries fill in later ones."""
    known: dict[str, Token] = {}
    if isinstance(node, Mapping):
        for key, item in node.entries():
            if isinstance(item, Scalar):
                yield variable(key.value, node_token(item, Script), key.place)
    if not isinstance(node, Sequence):
        return
    for entry in node.items:
        if not isinstance(entry, Mapping):
            continue
        name, value = entry.get("name"), entry.get("value")
        if isinstance(name, Scalar) and isinstance(value, Scalar):
            token = script_token(kubernetes_script(value.text, known))
            if value.uses > 1:
                token = token._replace(source=None)
            entry_variable = variable(name.value, token, name.place)
            known[name.value] = entry_variable.token
            yield entry_variable


def _limit(node: Mapping) -> Located[int] | None:
    """GPUs that a container is limited to, or requests."""
    resources = node.get("resources")
    if not isinstance(resources, Mapping):
        return None
    for kind in ("limits", "requests"):
        amounts = resources.get(kind)
        if isinstance(amounts, Mapping):
            for key, value in amounts.entries():
                if _GPU.search(key.value) and isinstance(value, Scalar):
                    number = count(value.value)
                    return None if number is None else Located(number, value.place)
    return None


def _text(node: Scalar, key: str, context: Context) -> Iterator[LaunchSite]:
    """A script in a scalar: `run: |`, a ConfigMap entry, a boot script."""
    if ANCHOR.search(node.value) is None or _PROSE_KEY.search(key):
        return
    if not (_SCRIPT_KEY.search(key) or (node.style == "|" and "\n" in node.value.rstrip())):
        return
    text = node.text
    if re.search(r"^[\w.-]+:(?:\s|$)", node.value, re.M) and not node.value.startswith("#!"):
        from preflight.readers.manifest import text_sites

        yield from text_sites(text, context)
        return
    yield from script_sites(Script(text), context)
