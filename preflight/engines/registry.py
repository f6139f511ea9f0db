"""The engines by name, loaded when a launch needs one."""

from __future__ import annotations

from preflight.engines.base import Engine

NAMES = ("sglang", "vllm")


def find_engine(name: str | None, project: str | None = None) -> Engine | None:
    """None for an engine that is not known. `project`: a folder that added releases to the flag history."""
    if name == "sglang":
        from preflight.engines.sglang.engine import SGLANG, with_releases_of

        return SGLANG if project is None else with_releases_of(project)
    if name == "vllm":
        from preflight.engines.vllm.engine import VLLM

        return VLLM
    return None
