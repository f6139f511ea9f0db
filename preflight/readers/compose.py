"""Docker compose files: services, with interpolation, entrypoint and command, devices and environment."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.launch import EnvVar, LaunchSite, Token
from preflight.readers.container import container_sites, list_arguments, node_token, variable
from preflight.readers.fill import compose_script
from preflight.readers.images import image_versions
from preflight.readers.shell import Context, device_count
from preflight.readers.yamltree import Mapping, Node, Scalar, Sequence
from preflight.text import Located


def compose_sites(root: Mapping, context: Context) -> Iterator[LaunchSite]:
    services = root.get("services")
    if isinstance(services, Mapping):
        for key, service in services.entries():
            if isinstance(service, Mapping):
                yield from _service(key, service, context._replace(kind="compose"))


def _service(key: Scalar, service: Mapping, context: Context) -> Iterator[LaunchSite]:
    image_node = service.get("image")
    image = node_token(image_node, compose_script) if isinstance(image_node, Scalar) else None
    env = tuple(environment(service.get("environment")))
    context = context._replace(
        name=key.value,
        image=Located(image.value, image.place) if image is not None and image.value else None,
        versions=image_versions(image) if image is not None else {},
        gpus=_devices(service),
        env=env,
        extent=context.document.place(key.place.span.start, max(key.place.span.end, service.place.span.end)),
    )
    shared = service.uses > 1
    entry_node = service.get("entrypoint")
    entrypoint, entry_whole = list_arguments(entry_node, compose_script, shared=shared)
    command, whole = list_arguments(service.get("command"), compose_script, shared=shared)
    context = context._replace(whole=whole and entry_whole)
    yield from container_sites(entrypoint if entry_node is not None else None, command, image, context)


def environment(node: Node | None) -> Iterator[EnvVar]:
    """`environment:` as a list of `A=b` or as a mapping."""
    if isinstance(node, Mapping):
        for key, value in node.entries():
            if isinstance(value, Scalar) and not (value.plain and value.value in ("", "null", "~")):
                yield variable(key.value, _unshared(node_token(value, compose_script), value), key.place)
    elif isinstance(node, Sequence):
        for item in node.items:
            if isinstance(item, Scalar) and "=" in item.value:
                token = node_token(item, compose_script)
                pair = _pair(token)
                if pair is not None:
                    yield variable(*pair)


def _unshared(token: Token, node: Scalar) -> Token:
    return token._replace(source=None) if node.uses > 1 else token


def _pair(token: Token) -> EnvVar | None:
    """`A=b` as one word."""
    text = token.text
    name, _equals, value = text.partition("=")
    start = len(name) + 1
    if token.value is None or token.at.value != token.value:
        known = token.value is not None
        return EnvVar(
            name, token._replace(value=value if known else None, pattern=None if known else value, source=None), token.place
        )
    inner = token.at.inner(start, len(token.value))
    if inner is None:
        return None
    source = inner if token.source is not None else None
    return EnvVar(name, Token(value, inner, source, token.state, token.definition), token.at.place_of(0, len(name)))


def _devices(service: Mapping) -> Located[int] | None:
    """GPUs that a service reserves: `gpus:`, or device reservations."""
    gpus = service.get("gpus")
    if isinstance(gpus, Scalar):
        return device_count(gpus.value, gpus.place)
    node: Node | None = service
    for name in ("deploy", "resources", "reservations", "devices"):
        node = node.get(name) if isinstance(node, Mapping) else None
    if node is None:
        node = gpus
    if not isinstance(node, Sequence):
        return None
    total, place = 0, None
    for device in node.items:
        if not isinstance(device, Mapping):
            return None
        ids, count = device.get("device_ids"), device.get("count")
        if isinstance(ids, Sequence):
            total, place = total + len(ids.items), ids.place
        elif isinstance(count, Scalar) and node_token(count, compose_script).text.isdigit():
            total, place = total + int(node_token(count, compose_script).text), count.place
        else:
            return None
    return Located(total, place) if place is not None and total else None
