"""`preflight profile show`: what is known of a model or a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from preflight.hardware.types import Hardware
from preflight.model.types import Model
from preflight.profiles.find import find_hardware, find_model
from preflight.profiles.results import Broken
from preflight.units import gib

_BYTES = ("memory", "memory_cuda", "host_memory")


def show_profile(name: str, near: Path) -> str | None:
    """A table of facts; None where nothing answers to the name."""
    for found in (find_hardware(name, near), find_model(name, near)):
        if isinstance(found, Hardware):
            return _facts(found._asdict())
        if isinstance(found, Model):
            return _model(found)
        if isinstance(found, Broken):
            return found.message
    return None


def _facts(facts: dict[str, Any]) -> str:
    lines = []
    for key, value in facts.items():
        if value is None or value == () or key == "source":
            continue
        text = (
            f"{gib(value)} ({value // 2**20:,} MiB)"
            if key in _BYTES
            else ".".join(map(str, value))
            if isinstance(value, tuple)
            else value
        )
        lines.append(f"{key.replace('_', '-'):<24}{text}")
    lines += [f"{'source of ' + group:<27} {text}" for group, text in facts.get("source", ())]
    return "\n".join(lines)


def _model(model: Model) -> str:
    from preflight.model.types import Parallel
    from preflight.model.weights import total, weight_rows

    facts = model._asdict()
    for key in ("attention", "components", "vision", "missing"):
        facts.pop(key, None)
    lines = [_facts(facts)]
    for group in model.attention or ():
        parts = [
            f"{key}={value}"
            for key, value in group._asdict().items()
            if value not in (None, False) and key not in ("kind", "layers")
        ]
        lines.append(f"{'attention':<24}{len(group.layers)} layers {group.kind} {' '.join(parts)}")
    for tp in (1, 2, 4, 8):
        rows = weight_rows(model, Parallel(tp=tp))
        if rows is not None:
            lines.append(f"{f'weights at TP{tp}':<24}{gib(total(rows))} per GPU")
    return "\n".join(lines)
