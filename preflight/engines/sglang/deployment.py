"""What rules that belong to no engine ask of a launch of SGLang: how it spreads over GPUs, and where it answers."""

from __future__ import annotations

from typing import Any

from preflight.engines.base import Launch, Listening, Spread
from preflight.engines.steps import UNKNOWN

_SIZES = ("tp-size", "pp-size")
_OTHERS = ("use-ray", "dwdp-size", "elastic-ep-join-mode")
"""With one of these, processes are placed by other means."""


def spread(launch: Launch) -> Spread:
    """tp-size × pp-size; replicas have GPUs of their own, except under DP attention, where they share those of tensor
    parallelism. Source: sglang 0.5.9 srt/managers/data_parallel_controller.py, srt/entrypoints/engine.py.
    """
    if not launch.site.complete or any(_given(launch, name) for name in _OTHERS) or _is_foreign(launch):
        return Spread()
    values = {name: launch.value(name) for name in (*_SIZES, "dp-size", "nnodes", "base-gpu-id", "gpu-id-step")}
    shared = launch.value("enable-dp-attention")
    if any(value is UNKNOWN for value in (*values.values(), shared)):
        return Spread()
    replicas = 1 if shared else values["dp-size"] or 1
    sizes = (*_SIZES, "dp-size") if replicas > 1 else _SIZES
    ranks = (values["tp-size"] or 1) * (values["pp-size"] or 1) * replicas
    return Spread(
        ranks,
        values["nnodes"] or 1,
        tuple(name for name in sizes if _given(launch, name)),
        values["base-gpu-id"] or 0,
        values["gpu-id-step"] or 1,
        "dist-init-addr" if _given(launch, "dist-init-addr") else None,
    )


def listens(launch: Launch) -> Listening:
    """The first node's HTTP server; the others start none that serves requests. Source: sglang 0.5.9 srt/server_args.py."""
    nodes, rank = launch.value("nnodes"), launch.value("node-rank")
    if _is_foreign(launch) or nodes is UNKNOWN or (nodes not in (None, 1) and rank != 0) or _given(launch, "grpc-mode"):
        return Listening()
    return Listening(_certain(launch, "host"), _certain(launch, "port"))


def _certain(launch: Launch, name: str) -> Any:
    """A setting, None where it or what else may set it cannot be seen."""
    if not launch.site.complete and not _given(launch, name):
        return None
    return launch.known(name)


def _given(launch: Launch, name: str) -> bool:
    return launch.use(name) is not None


def _is_foreign(launch: Launch) -> bool:
    """Dynamo's programs place processes and open ports by rules of their own."""
    entry = launch.site.entry
    return entry is not None and entry.value.startswith("dynamo")
