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
    values = checked_fields(Model, table["model"], "[model]", without=("name", "attention", "components", "vision", "source"))
    values.update(name=name, source=dict(source))
    for key, kind in (("attention", LayerGroup), ("components", Component)):
        entries = table.get(key)
        if entries is None:
            continue
        if not isinstance(entries, list):
            raise BadProfile(f"{key} is not a list of tables. Write [[{key}]] tables.")
        values[key] = [checked_fields(kind, entry, f"{key} {at + 1}") for at, entry in enumerate(entries)]
    if "vision" in table:
        values["vision"] = checked_fields(Vision, table["vision"], "[vision]")
    model = unpack(values)
    for component in model.components or ():
        if not known(component.format):
            raise BadProfile(
                f"format {component.format!r} of component {component.name} is not known. "
                "`preflight schema model-profile` lists the formats."
            )
    return model


MAY_BE_ZERO = {"elements", "qk_rope_head_dim", "mtp_layers", "sglang_layers", "sglang_hidden", "experts"}


def checked_fields(kind: type[Any], table: Any, where: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """A table with the fields of a NamedTuple, each value of the field's type. Raises BadProfile."""
    if not isinstance(table, Mapping):
        raise BadProfile(f"{where} is not a table. Write its figures as key = value.")
    fields = {field: annotation for field, annotation in kind.__annotations__.items() if field not in without}
    check_keys(table, {field.replace("_", "-") for field in fields})
    values = snake(table)
    for field, value in values.items():
        if not fits(field, value, fields[field]):
            raise BadProfile(
                f"{where}: {field.replace('_', '-')} = {value!r} is no value for it. See `preflight schema model-profile`."
            )
    needed = [field for field in fields if field not in kind._field_defaults and field not in values]
    if needed:
        raise BadProfile(f"{where} has no {needed[0].replace('_', '-')}. Add it.")
    return values


def fits(field: str, value: object, annotation: object) -> bool:
    """Whether a value is of a field's type, and a size that is no size of nothing."""
    if field == "layers" and annotation == tuple[int, ...]:
        try:
            return isinstance(value, str) and unpack_layers(value) is not None
        except ValueError:
            return False
    if annotation == tuple[str, ...]:
        return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    if annotation is bool:
        return isinstance(value, bool)
    if annotation in (int, int | None):
        least = 0 if field in MAY_BE_ZERO else 1
        return isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 62
    return isinstance(value, str)


def snake(table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys with underscores."""
    return {str(key).replace("-", "_"): value for key, value in table.items()}
