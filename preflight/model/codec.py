"""A `Model` as plain JSON and back: compact, defaults left out, layer indices as runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from preflight.model.types import Component, LayerGroup, Model, Vision


def pack_layers(layers: Sequence[int]) -> str:
    """Layer indices as text: "0-60", "3,7,11" as "3-11:4", joined by commas."""
    runs: list[str] = []
    index = 0
    while index < len(layers):
        step = layers[index + 1] - layers[index] if index + 1 < len(layers) else 1
        end = index
        while end + 1 < len(layers) and step > 0 and layers[end + 1] - layers[end] == step:
            end += 1
        if end - index < 2 and step != 1:
            runs.append(str(layers[index]))
            index += 1
            continue
        suffix = f":{step}" if step != 1 else ""
        runs.append(f"{layers[index]}-{layers[end]}{suffix}" if end > index else str(layers[index]))
        index = end + 1
    return ",".join(runs)


def unpack_layers(text: str) -> tuple[int, ...]:
    """The reverse of `pack_layers`. Raises ValueError for anything else, and for more than 10,000 layers."""
    layers: list[int] = []
    for run in text.split(",") if text else ():
        span, _, step = run.partition(":")
        first, dash, last = span.partition("-")
        here = range(int(first), min(int(last if dash else first), 1 << 30) + 1, int(step or 1))
        if len(layers) + len(here) > 10_000:
            raise ValueError("more than 10,000 layers")
        layers.extend(here)
    return tuple(layers)


def pack(model: Model) -> dict[str, Any]:
    """The model as JSON values."""
    packed = without_defaults(model._asdict(), Model._field_defaults)
    if model.attention is not None:
        packed["attention"] = [
            {**without_defaults(group._asdict(), LayerGroup._field_defaults), "layers": pack_layers(group.layers)}
            for group in model.attention
        ]
    if model.components is not None:
        packed["components"] = [pack_component(component) for component in model.components]
    if model.vision is not None:
        packed["vision"] = without_defaults(model.vision._asdict(), Vision._field_defaults)
    if model.source:
        packed["source"] = dict(model.source)
    return packed


def pack_component(component: Component) -> dict[str, Any]:
    """One component as JSON values."""
    packed = without_defaults(component._asdict(), Component._field_defaults)
    if component.layers:
        packed["layers"] = pack_layers(component.layers)
    return packed


def without_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that differ from what they would be if left out."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if key not in defaults or value != defaults[key]
    }


def unpack(packed: Mapping[str, Any]) -> Model:
    """The reverse of `pack`."""
    values = dict(packed)
    if "attention" in values:
        values["attention"] = tuple(
            LayerGroup(**{**group, "layers": unpack_layers(group["layers"])}) for group in values["attention"]
        )
    if "components" in values:
        values["components"] = tuple(unpack_component(component) for component in values["components"])
    if "vision" in values:
        values["vision"] = Vision(**values["vision"])
    if "source" in values:
        values["source"] = tuple(values["source"].items())
    if "missing" in values:
        values["missing"] = texts(values["missing"])
    return Model(**values)


def unpack_component(packed: Mapping[str, Any]) -> Component:
    """One component from JSON values."""
    values = dict(packed)
    values["layers"] = unpack_layers(values.get("layers", ""))
    if "engines" in values:
        values["engines"] = texts(values["engines"])
    return Component(**values)


def texts(values: Iterable[Any]) -> tuple[str, ...]:
    """A tuple of texts."""
    return tuple(str(value) for value in values)
