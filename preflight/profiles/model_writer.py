"""Writing a model as a profile that can be committed: only the figures that the arithmetic reads.

Two forms, as in `model_profile`: `[config]` with the checkpoint's own figures, or the result stated in full where
it comes from file headers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preflight.model.codec import pack
from preflight.model.importing.config import model_from_config
from preflight.model.types import Model
from preflight.profiles.toml_writer import toml_text

LONG_LIST = 12  # patterns; longer lists are summarised


class Reading(Mapping[str, Any]):
    """A table that remembers which of its keys were read."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = table
        self.read: set[str] = set()
        self.inner: dict[str, Reading] = {}
        self.lists: dict[str, list[Reading]] = {}

    def __getitem__(self, key: str) -> Any:
        value = self.table[key]
        self.read.add(key)
        if isinstance(value, Mapping):
            return self.inner.setdefault(key, Reading(value))
        if isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
            return self.lists.setdefault(key, [Reading(entry) for entry in value])
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def kept(self) -> dict[str, Any]:
        """The keys that were read, in the table's own order."""
        result: dict[str, Any] = {}
        for key, value in self.table.items():
            if key not in self.read or value is None:
                continue
            inner = self.inner[key].kept() if key in self.inner else value
            if key in self.lists:
                inner = [entry.kept() for entry in self.lists[key]]
            if inner not in ({}, []):
                result[key] = inner
        return result


def config_profile(
    name: str,
    names: Sequence[str],
    config: Mapping[str, Any],
    sidecar: Mapping[str, Any] | None,
    source: Mapping[str, str],
) -> str:
    """A profile that holds the figures of config.json (and hf_quant_config.json) which decide the result."""
    config, sidecar = summarised(config), summarised(sidecar) if sidecar is not None else None
    reading, beside = Reading(config), Reading(sidecar or {})
    model_from_config(reading, name, beside if sidecar is not None else None)
    table: dict[str, Any] = {"name": name, "names": list(names), "source": dict(source), "config": reading.kept()}
    if sidecar is not None:
        table["hf-quant-config"] = beside.kept()
    return toml_text(table)


def stated_profile(model: Model, names: Sequence[str], source: Mapping[str, str]) -> str:
    """A profile that states layer groups and components."""
    packed = {key.replace("_", "-"): value for key, value in pack(model).items()}
    lists = {key: [kebab(entry) for entry in packed.pop(key, [])] for key in ("attention", "components")}
    vision = packed.pop("vision", None)
    packed.pop("source", None)
    packed.pop("name", None)
    table: dict[str, Any] = {"name": model.name, "names": list(names), **lists, "source": dict(source), "model": packed}
    if vision:
        table["vision"] = kebab(vision)
    return toml_text({key: value for key, value in table.items() if value != []})


def kebab(table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys with dashes."""
    return {key.replace("_", "-"): value for key, value in table.items()}


def summarised(value: Any) -> Any:
    """The same configuration with long lists of module names written as patterns."""
    if isinstance(value, Mapping):
        result = {key: summarised(entry) for key, entry in value.items()}
        layers = result.get("quantized_layers")
        if isinstance(layers, Mapping) and len(layers) > LONG_LIST:
            by_entry: dict[str, list[str]] = {}
            for module, entry in layers.items():
                algorithm = str(entry.get("quant_algo")) if isinstance(entry, Mapping) else ""
                by_entry.setdefault(algorithm, []).append(str(module))
            result["quantized_layers"] = {
                pattern: {"quant_algo": algorithm} for algorithm, modules in by_entry.items() for pattern in patterns(modules)
            }
        return result
    if isinstance(value, list) and len(value) > LONG_LIST and all(isinstance(entry, str) for entry in value):
        return patterns(value) if any("." in entry for entry in value) else value
    return value


def patterns(modules: Sequence[str]) -> list[str]:
    """Fewer patterns that name the same modules: numbers that vary become an alternative of ranges."""
    families: dict[str, list[tuple[int, ...]]] = {}
    plain: list[str] = []
    for module in modules:
        numbers = tuple(int(number) for number in re.findall(r"(?<=\.)\d+(?=\.|$)", module))
        if module.startswith("re:") or not numbers:
            plain.append(module)
            continue
        families.setdefault(re.sub(r"(?<=\.)\d+(?=\.|$)", "#", module), []).append(numbers)
    for template, found in families.items():
        plain.extend(family_patterns(template, found))
    return plain


def family_patterns(template: str, found: Sequence[tuple[int, ...]]) -> list[str]:
    """Patterns for one family of names that differ in their numbers only."""
    if len(found) < 3:
        return [filled(template, [str(number) for number in numbers]) for numbers in found]
    columns = [sorted({numbers[index] for numbers in found}) for index in range(len(found[0]))]
    product = 1
    for column in columns:
        product *= len(column)
    if product != len(set(found)):
        return [filled(template, [str(number) for number in numbers]) for numbers in found]
    body = re.escape(template).replace(r"\#", "#").replace(r"\*", ".*")
    parts = [f"({'|'.join(str(number) for number in column)})" for column in columns]
    return ["re:" + filled(body, parts) + r"(\..*)?$"]


def filled(template: str, values: Sequence[str]) -> str:
    """The template with its marks replaced in order."""
    pieces = template.split("#")
    return "".join(piece + value for piece, value in zip(pieces, [*values, ""], strict=True))
