"""The knobs that move SGLang's memory, each one step away from where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from preflight.engines.base import Launch
    from preflight.memory.budget import Budget

FRACTION_STEP = 0.01
_EIGHT_BITS_OR_LESS = ("fp8", "fp4", "mxfp8", "nvfp4", "int8")


def levers(launch: Launch, budget: Budget) -> Iterator[tuple[str, Any]]:
    fraction = launch.known("mem-fraction-static")
    if isinstance(fraction, float):
        for value in (round(fraction + FRACTION_STEP, 6), round(fraction - FRACTION_STEP, 6)):
            if 0 < value < 1:
                yield "mem-fraction-static", value
    for name in ("chunked-prefill-size", "cuda-graph-max-bs"):
        size = launch.known(name)
        if isinstance(size, int) and not isinstance(size, bool) and size > 1:
            yield name, size // 2
    stored = str(launch.known("kv-cache-dtype") or "auto")
    declared = launch.model.kv_cache_dtype if launch.model is not None else None
    if not stored.startswith(_EIGHT_BITS_OR_LESS) and (stored != "auto" or declared is None):
        yield "kv-cache-dtype", "fp8_e4m3"
    if budget.requests is not None and budget.requests > 1:
        yield "max-running-requests", budget.requests // 2
