"""What cannot be derived from the source: context, communicators, load leftovers, graphs, activations.

The constants lie in overheads.json with their evidence and method, as low, expected and high. floor and ceil never come from
them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from preflight.units import GIB, MIB

Three = tuple[float, float, float]
"""low, expected, high, in bytes."""


@lru_cache(maxsize=1)
def _constants() -> dict[str, list[float]]:
    with open(Path(__file__).with_name("overheads.json"), encoding="utf-8") as file:
        data: dict[str, list[float]] = json.load(file)
    return data


def _three(name: str, unit: float) -> Three:
    low, expected, high = _constants()[name]
    return low * unit, expected * unit, high * unit


def _sum(*parts: Three) -> Three:
    expected = sum(part[1] for part in parts)
    down = sum((part[1] - part[0]) ** 2 for part in parts) ** 0.5
    up = sum((part[2] - part[1]) ** 2 for part in parts) ** 0.5
    return expected - down, expected, expected + up


def before_load(ranks: int) -> Three:
    """Bytes taken on each GPU before weights are loaded: the CUDA context, and communicators where there are peers."""
    context = _three("context_gib", GIB)
    return context if ranks < 2 else _sum(context, _three("communicators_gib", GIB))


def load_leftover(weights: float) -> Three:
    """Bytes that loading leaves behind beyond the weights themselves."""
    return _sum(_three("load_leftover_gib", GIB), _three("load_leftover_share", weights))


def decode_graphs(batch: int) -> Three:
    return _sum(_three("graph_base_gib", GIB), _three("graph_mib_per_batch", MIB * batch))


def activations(tokens: int) -> Three:
    """The peak of the first prefill of `tokens` tokens."""
    return _three("activation_mib_per_token", MIB * tokens)


def workspace() -> Three:
    return _three("workspace_gib", GIB)
