"""vLLM, as far as rules that belong to no engine need it: its command line under a few stable names.

Its flags have no history here yet and its memory is not modelled, so no flag is called unknown and every figure is None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from preflight.engines.base import Engine, Launch, Listening, Spread
from preflight.engines.steps import UNKNOWN, Row, Step, Topic
from preflight.engines.versions import Version
from preflight.engines.vllm.flags import parse
from preflight.memory.budget import Budget, Knob

_KNOB = "gpu-memory-utilization"
_RAY = re.compile(r"\bray\b|RAY_", re.I)
_DEFAULT_PORT = 8000
_SIZES = (
    "tensor-parallel-size",
    "pipeline-parallel-size",
    "prefill-context-parallel-size",
    "data-parallel-size-local",
    "data-parallel-size",
)
_ELSEWHERE = (
    "data-parallel-rank",
    "data-parallel-start-rank",
    "data-parallel-hybrid-lb",
    "data-parallel-external-lb",
    "data-parallel-address",
    "headless",
)
"""With one of these, other launches hold a part of the ranks."""


def spread(launch: Launch) -> Spread:
    """Tensor × pipeline × context × data parallel ranks. Source: vLLM 0.33.0 vllm/config/parallel.py."""
    backends = (launch.value("distributed-executor-backend"), launch.value("data-parallel-backend"))
    if any(backend not in (None, "mp", "uni") for backend in backends):  # Ray, or a launcher outside the file
        return Spread()
    values = {name: launch.value(name) for name in (*_SIZES, "nnodes")}
    if any(launch.value(name) is not None for name in _ELSEWHERE) or any(value is UNKNOWN for value in values.values()):
        return Spread()
    if _speaks_of_ray(launch.site.document.text):  # it takes over where GPUs are missing
        return Spread()
    if values["data-parallel-size-local"]:
        values["data-parallel-size"] = None
    ranks = 1
    for name in _SIZES:
        ranks *= values[name] or 1
    return Spread(
        ranks,
        values["nnodes"] or 1,
        tuple(name for name in _SIZES if values[name] is not None),
        placed_here=launch.site.image is not None or backends[0] == "mp",
    )


@lru_cache(maxsize=2)
def _speaks_of_ray(text: str) -> bool:
    return _RAY.search(text) is not None


def listens(launch: Launch) -> Listening:
    """Every interface and port 8000, where nothing else is given. Source: vLLM 0.33.0 entrypoints/openai/cli_args.py."""
    if _is_foreign(launch) or launch.value("headless") is not None:
        return Listening()
    host, port = launch.value("host"), launch.value("port")
    return Listening(
        "0.0.0.0" if host is None else None if host is UNKNOWN else str(host),
        _DEFAULT_PORT if port is None else None if port is UNKNOWN else port,
    )


def _is_foreign(launch: Launch) -> bool:
    entry = launch.site.entry
    return entry is not None and entry.value.startswith("dynamo")


def budget(launch: Launch) -> Budget:
    fraction = launch.known(_KNOB)
    value = float(fraction) if isinstance(fraction, int | float) else None
    return Budget(Knob(_KNOB, f"--{_KNOB}", value), missing=("vLLM's memory, which is not modelled yet",))


def _steps(topics: Sequence[tuple[Row, Topic]], version: Version) -> list[Step]:
    return []


VLLM = Engine(
    name="vllm",
    title="vLLM",
    knob=_KNOB,
    read=(),
    releases=lambda: (),
    parse=parse,
    steps=_steps,
    budget=budget,
    spelling=lambda name, version: f"--{name}",
    spread=spread,
    listens=listens,
)
