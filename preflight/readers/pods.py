"""What surrounds a container of a pod: its ports and probes, the Services that select it, and its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.launch import Port, Surroundings
from preflight.readers.counts import whole
from preflight.readers.yamltree import Mapping, Node, Scalar, Sequence
from preflight.records import NamedTuple
from preflight.text import Located, Place

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


class Service(NamedTuple):
    """A Kubernetes Service. `headless`: it has no address of its own. `ports`: number or name, place, and its own name."""

    name: Located[str]
    selector: tuple[tuple[str, str], ...]
    ports: tuple[tuple[str, Place, str | None], ...]
    headless: bool
    namespace: str | None


class Pod(NamedTuple):
    """What is known of the pod around a container."""

    labels: tuple[tuple[str, str], ...] = ()
    on_host_network: bool = False
    links: bool = True
    """Whether Services are put into its environment."""
    containers: int = 1
    namespace: str | None = None


def services(documents: list[Node]) -> tuple[Service, ...]:
    """The Services among the documents of a file."""
    return tuple(found for node in documents if isinstance(node, Mapping) and (found := _service(node)) is not None)


def _service(node: Mapping) -> Service | None:
    metadata, spec = node.get("metadata"), node.get("spec")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if _text(node.get("kind")) != "Service" or not isinstance(name, Scalar) or not isinstance(spec, Mapping):
        return None
    if node.get("apiVersion") is not None and _text(node.get("apiVersion")) != "v1":  # Knative's are something else
        return None
    ports = spec.get("ports")
    return Service(
        Located(name.value, name.place),
        _pairs(spec.get("selector")),
        tuple(_service_ports(ports)) if isinstance(ports, Sequence) else (),
        _text(spec.get("clusterIP")) == "None" or _text(spec.get("type")) == "ExternalName",
        _text(metadata.get("namespace")) if isinstance(metadata, Mapping) else None,
    )


def _service_ports(ports: Sequence) -> Iterator[tuple[str, Place, str | None]]:
    for item in ports.items:
        if isinstance(item, Mapping):
            target = item.get("targetPort") or item.get("port")
            if isinstance(target, Scalar):
                yield target.value, target.place, _text(item.get("name"))


def around(pod: Pod, node: Mapping) -> Pod:
    """`pod` as an object between it and the container says more of it."""
    metadata, spec = node.get("metadata"), node.get("spec")
    if isinstance(metadata, Mapping):
        pod = pod._replace(namespace=_text(metadata.get("namespace")) or pod.namespace)
        if isinstance(spec, Mapping):
            pod = pod._replace(labels=_pairs(metadata.get("labels")))
    containers = node.get("containers")
    if isinstance(containers, Sequence):
        sidecars = node.get("initContainers")
        count = len(containers.items) + (len(sidecars.items) if isinstance(sidecars, Sequence) else 0)
        pod = pod._replace(
            containers=count,
            on_host_network=_text(node.get("hostNetwork")) == "true",
            links=_text(node.get("enableServiceLinks")) != "false",
        )
    return pod


def surroundings(pod: Pod, container: Mapping, among: tuple[Service, ...]) -> Surroundings:
    """What the file says around one container."""
    own = list(_container_ports(container.get("ports")))
    names = {port.name: port.number for port in own if port.name}
    found = own + [port for key in _PROBES for port in _probe(container.get(key), names)]
    near = [service for service in among if service.namespace == pod.namespace]
    for service in near:
        if service.selector and set(service.selector) <= set(pod.labels):
            for target, place, name in service.ports:
                number = whole(target) or names.get(target)
                if number is not None:
                    found.append(Port(number, place, "Service", name or target))
    context = container.get("securityContext")
    return Surroundings(
        ports=tuple(found),
        services=tuple(service.name for service in near if not service.headless) if pod.links else (),
        sees_only_its_gpus=not isinstance(context, Mapping) or _text(context.get("privileged")) != "true",
        on_host_network=pod.on_host_network,
        alone=pod.containers == 1,
        stays=True,
    )


def _container_ports(node: Node | None) -> Iterator[Port]:
    for item in node.items if isinstance(node, Sequence) else ():
        port = item.get("containerPort") if isinstance(item, Mapping) else None
        number = whole(_text(port))
        if number is not None and isinstance(port, Scalar) and isinstance(item, Mapping):
            yield Port(number, port.place, "containerPort", _text(item.get("name")))


def _probe(node: Node | None, names: dict[str, int]) -> Iterator[Port]:
    """The port that a probe asks over the network. One that names a host asks somewhere else."""
    for kind in ("httpGet", "tcpSocket"):
        action = node.get(kind) if isinstance(node, Mapping) else None
        port = action.get("port") if isinstance(action, Mapping) else None
        if isinstance(port, Scalar) and isinstance(action, Mapping) and action.get("host") is None:
            number = whole(port.value) or names.get(port.value)
            if number is not None:
                yield Port(number, port.place, "probe")


def _text(node: Node | None) -> str | None:
    return node.value if isinstance(node, Scalar) else None


def _pairs(node: Node | None) -> tuple[tuple[str, str], ...]:
    if not isinstance(node, Mapping):
        return ()
    return tuple((key.value, value.value) for key, value in node.entries() if isinstance(value, Scalar))
