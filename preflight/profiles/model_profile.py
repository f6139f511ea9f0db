"""Model profiles: TOML tables to a `Model`.

Two forms. `[config]` holds the checkpoint's own figures, as in its config.json, and everything else is arithmetic.
`[model]`, `[[attention]]` and `[[components]]` state the result, as `preflight profile model` writes it from exact
file headers. Both have `name`, `names` and `[source]`.
"""

from collections.abc import Mapping
from typing import Any

from preflight.model.codec import unpack, unpack_layers
from preflight.model.formats import known
from preflight.model.importing.config import model_from_config
from preflight.model.types import Component, LayerGroup, Model, Vision
from preflight.profiles.hardware_profile import BadProfile, check_keys, sources, words

TOP = {"$schema", "name", "names", "source", "config", "hf-quant-config", "model", "attention", "components", "vision"}
STATED = {field.replace("_", "-") for field in Model._fields} - {"name", "attention", "components", "vision", "source"}


def model_from_table(table: Mapping[str, Any]) -> Model:
    """The model of one profile. Raises BadProfile."""
    check_keys(table, TOP)
    name = words(table, "name")
    if not name:
        raise BadProfile('The profile has no name. Add name = "…".')
    source = sources(table)
    config = table.get("config")
    if isinstance(config, Mapping):
        sidecar = table.get("hf-quant-config")
        model = model_from_config(config, name, sidecar if isinstance(sidecar, Mapping) else None)
        return model._replace(source=source)
    if not isinstance(table.get("model"), Mapping):
        raise BadProfile(
            "The profile has neither a [config] nor a [model] table. Add the figures of its config.json as [config]."
        )
    return stated_model(name, table, source)


def stated_model(name: str, table: Mapping[str, Any], source: tuple[tuple[str, str], ...]) -> Model:
    """A profile that states layer groups and components."""
    stated = table["model"]
    check_keys(stated, STATED)
    values: dict[str, Any] = {"name": name, "source": dict(source), **snake(stated)}
    try:
        for key, fields in (("attention", LayerGroup._fields), ("components", Component._fields)):
            entries = table.get(key)
            if isinstance(entries, list):
                for entry in entries:
                    check_keys(entry, {field.replace("_", "-") for field in fields})
                    unpack_layers(str(entry.get("layers", "")))
                values[key] = [snake(entry) for entry in entries]
        if isinstance(table.get("vision"), Mapping):
            check_keys(table["vision"], {field.replace("_", "-") for field in Vision._fields})
            values["vision"] = snake(table["vision"])
        model = unpack(values)
    except (TypeError, ValueError, KeyError) as error:
        if isinstance(error, BadProfile):
            raise
        raise BadProfile(
            f"A table of the profile is not as it should be ({error}). See schemas/model-profile.schema.json."
        ) from None
    check_values(model)
    return model


def check_values(model: Model) -> None:
    """Raises BadProfile for figures that arithmetic could not use."""
    for component in model.components or ():
        if not isinstance(component.elements, int) or component.elements < 0:
            raise BadProfile(f"elements of component {component.name} is not a whole number. Count the whole model's parameters.")
        if not known(component.format):
            raise BadProfile(
                f"format {component.format!r} of component {component.name} is not known. "
                "`preflight schema model-profile` lists the formats."
            )
    for field, value in model._asdict().items():
        numeric = Model.__annotations__[field] in (int | None, "int | None")
        if numeric and value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise BadProfile(f"{field.replace('_', '-')} = {value!r} must be a whole number.")


def snake(table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys with underscores."""
    return {str(key).replace("-", "_"): value for key, value in table.items()}
