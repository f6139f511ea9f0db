"""The engines by name, loaded when a launch needs one."""

from __future__ import annotations

from preflight.engines.base import Engine

NAMES = ("sglang", "vllm")


def find_engine(name: str | None) -> Engine | None:
    """None for an engine that is not known."""
    if name == "sglang":
        from preflight.engines.sglang.engine import SGLANG

        return SGLANG
    if name == "vllm":
        from preflight.engines.vllm.engine import VLLM

        return VLLM
    return None
