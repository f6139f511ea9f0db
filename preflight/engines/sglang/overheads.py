"""What cannot be derived from the source: context, communicators, load leftovers, graphs, activations.

The constants lie in overheads.json with their evidence and method. They make low, expected and high; floor and ceil never
come from them.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from preflight.units import GIB, MIB

SMALL_WEIGHTS = 4.0 * GIB
Three = tuple[float, float, float]
"""low, expected, high, in bytes."""


@lru_cache(maxsize=1)
def _constants() -> tuple[dict[str, float], dict[str, list[float]]]:
    with open(os.path.join(os.path.dirname(__file__), "overheads.json"), encoding="utf-8") as file:
        data = json.load(file)
    return data["fitted"], data["stated"]


def fitted(name: str) -> float:
    """One of the eight constants that were fitted to public boots."""
    return _constants()[0][name]


def _stated(name: str, unit: float) -> Three:
    """A range as the facts state it."""
    low, expected, high = _constants()[1][name]
    return low * unit, expected * unit, high * unit


def _spread(expected: float, half: float) -> Three:
    return max(expected - half, 0.0), expected, expected + half


def _sum(*parts: Three) -> Three:
    expected = sum(part[1] for part in parts)
    down = sum((part[1] - part[0]) ** 2 for part in parts) ** 0.5
    up = sum((part[2] - part[1]) ** 2 for part in parts) ** 0.5
    return expected - down, expected, expected + up


def before_load(total: float, usable: float | None, ranks: int, link: str | None) -> Three:
    """Bytes of `total` (as nvidia-smi counts) that are gone before weights are loaded.

    The driver keeps a share to itself (no more than lies above `usable`, the CUDA total, where that is known); the context
    takes a fixed amount, and communicators another where there are peers, more over NVLink than over PCIe.
    """
    driver = total * fitted("driver_share")
    peers = 0.0 if ranks < 2 else fitted("communicators_pcie_gib" if link == "pcie" else "communicators_gib")
    expected = max(driver + fitted("context_gib") * GIB, 0.0 if usable is None else total - usable) + peers * GIB
    return _spread(expected, fitted("before_spread_gib") * GIB)


def unified(total: float) -> Three:
    """The same where the GPU shares its memory with the host, whose own use is not known."""
    return _stated("unified_share", total)


def load_leftover(weights: float) -> Three:
    """Bytes that loading leaves behind beyond the weights themselves, below zero where it leaves fewer.

    Rounding and fragments come with each tensor: the fixed amount is reached at a few GiB of weights.
    """
    expected = fitted("load_leftover_gib") * GIB * min(1.0, weights / SMALL_WEIGHTS) + fitted("load_leftover_share") * weights
    half = fitted("load_spread_share") * weights
    return expected - half, expected, expected + half


def decode_graphs(batch: int) -> Three:
    return _sum(_stated("graph_base_gib", GIB), _stated("graph_mib_per_batch", MIB * batch))


def prefill_graphs() -> Three:
    return _stated("prefill_graph_gib", GIB)


def activations(tokens: int, hidden: int, bytes_by_geometry: float) -> Three:
    """The peak of the first prefill: what its widest layer holds at once, and no less than boots commonly show per token.

    Models narrower than 4096 have less in proportion.
    """
    shape = _stated("activation_scale", bytes_by_geometry)
    common = _stated("activation_mib_per_token", MIB * tokens * min(1.0, hidden / 4096))
    return max(shape[0], common[0]), max(shape[1], common[1]), max(shape[2], common[2])


def vision() -> Three:
    return _stated("vision_gib", GIB)


def all_to_all() -> Three:
    return _stated("all_to_all_gib", GIB)


def kernels() -> Three:
    """Libraries' workspaces and modules that are loaded on first use."""
    return _stated("kernels_gib", GIB)
