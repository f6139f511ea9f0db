"""Docker compose files: services, with interpolation, entrypoint and command, devices and environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.launch import EnvVar, LaunchSite, Port, Surroundings, Token
from preflight.readers.container import container_sites, list_arguments, node_token, variable
from preflight.readers.counts import count
from preflight.readers.devices import device_count, device_numbers, published
from preflight.readers.fill import compose_script
from preflight.readers.images import image_versions
from preflight.readers.shell import Context
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
        around=_around(service),
        extent=context.document.place(key.place.span.start, max(key.place.span.end, service.place.span.end)),
    )
    shared = service.uses > 1
    entry_node = service.get("entrypoint")
    entrypoint, entry_whole = list_arguments(entry_node, compose_script, shared=shared)
    command, whole = list_arguments(service.get("command"), compose_script, shared=shared)
    context = context._replace(whole=whole and entry_whole)
    yield from container_sites(entrypoint if entry_node is not None else None, command, image, context)


def _around(service: Mapping) -> Surroundings:
    """What surrounds the command of a service."""
    network, profiles, privileged = (service.get(name) for name in ("network_mode", "profiles", "privileged"))
    own = network is None or (isinstance(network, Scalar) and network.value == "bridge")
    return Surroundings(
        ports=tuple(_ports(service.get("ports"))) if own else (),
        devices=_numbers(service),
        sees_only_its_gpus=privileged is None and not _overridable(_reservations(service, service.get("gpus"))),
        on_host_network=not own,
        certain=profiles is None and service.get("extends") is None,
        stays=True,
        swallowed=tuple(found for key in ("entrypoint", "command") for found in _swallowed(service.get(key))),
    )


_SETS = re.compile(
    r"(?:^|[\n;&|({]|\b(?:then|do|else|export|local|readonly|declare)\b)[ \t]*"
    r"(?:([A-Za-z_]\w*)=[^\s;&|]*|for[ \t]+([A-Za-z_]\w*)[ \t]+in\b)"
)


_SOURCES = re.compile(r"^[ \t]*(?:source|\.)[ \t]+\S", re.M)


def _swallowed(node: Node | None) -> Iterator[Located[str]]:
    """`$X` in a script that sets X itself: compose puts its own X, mostly nothing, in its place. A name that starts with an
    underscore is a script's own: a file that is sourced before sets it.
    """
    scripts = node.items if isinstance(node, Sequence) else (node,)
    for item in scripts:
        if not isinstance(item, Scalar) or "$" not in item.value:
            continue
        script = compose_script(item.text)
        value = script.text.value
        sets: dict[str, int] = {}
        for match in _SETS.finditer(value):
            name = match.group(1) or match.group(2)
            own = any(region.name == name and match.start() <= region.start < match.end() for region in script.regions)
            if not own:  # else it passes compose's value on, as in `X=${X:-1}`
                sets.setdefault(name, match.end())
        sourced = _SOURCES.search(value)
        for region in script.regions:
            private = sourced is not None and region.name.startswith("_") and sourced.end() <= region.start
            if private or sets.get(region.name, len(value)) <= region.start:
                yield Located(region.name, script.text.place_of(region.start, region.end))


def _ports(node: Node | None) -> Iterator[Port]:
    """Published ports, as the container counts them."""
    for item in node.items if isinstance(node, Sequence) else ():
        target = item.get("target") if isinstance(item, Mapping) else item
        if isinstance(target, Scalar):
            value = node_token(target, compose_script).value
            port = published(value) if value else None
            if port is not None:
                yield Port(port, target.place, "ports")


def _numbers(service: Mapping) -> Located[tuple[str, ...]] | None:
    """Which GPUs a service gets; a count takes the first ones."""
    gpus = service.get("gpus")
    if isinstance(gpus, Scalar):
        return device_numbers(gpus.value, gpus.place)
    devices = _reservations(service, gpus)
    if devices is None or len(devices.items) != 1 or not isinstance(device := devices.items[0], Mapping):
        return None
    ids, amount = device.get("device_ids"), device.get("count")
    if isinstance(ids, Sequence):
        numbers = _ids(ids)
        certain = numbers is not None and all(number.isdecimal() for number in numbers) and not _overridable(ids)
        return Located(numbers, ids.place) if numbers is not None and certain else None
    if not isinstance(amount, Scalar) or _overridable(amount):
        return None
    return device_numbers(amount.value, amount.place)


def _ids(node: Sequence) -> tuple[str, ...] | None:
    """Device numbers or names; one item may hold several."""
    values = [node_token(item, compose_script).value if isinstance(item, Scalar) else None for item in node.items]
    if not values or None in values:
        return None
    return tuple(part.strip() for value in values for part in (value or "").split(",") if part.strip()) or None


def _overridable(node: Node | None) -> bool:
    """Whether a text, or one below it, takes a variable from outside."""
    if isinstance(node, Scalar):
        return "$" in node.value
    if isinstance(node, Mapping):
        return any(_overridable(value) for _key, value in node.pairs)
    return isinstance(node, Sequence) and any(_overridable(item) for item in node.items)


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
    devices = _reservations(service, gpus)
    if devices is None:
        return None
    total, place = 0, None
    for device in devices.items:
        if not isinstance(device, Mapping):
            return None
        ids, amount = device.get("device_ids"), device.get("count")
        if isinstance(ids, Sequence):
            numbers = _ids(ids)
            if numbers is None:
                return None
            total, place = total + len(numbers), ids.place
        elif isinstance(amount, Scalar) and (number := count(node_token(amount, compose_script).text)) is not None:
            total, place = total + number, amount.place
        else:
            return None
    return Located(total, place) if place is not None and total else None


def _reservations(service: Mapping, gpus: Node | None) -> Sequence | None:
    node: Node | None = service
    for name in ("deploy", "resources", "reservations", "devices"):
        node = node.get(name) if isinstance(node, Mapping) else None
    found = gpus if node is None else node
    return found if isinstance(found, Sequence) else None
