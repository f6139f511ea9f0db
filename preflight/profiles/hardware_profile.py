"""GPU and machine profiles: TOML tables to facts, with one message for each thing that is wrong."""

from collections.abc import Mapping
from typing import Any

from preflight.hardware.types import Gpu, Hardware
from preflight.units import BadQuantity, parse_bytes

INTERCONNECTS = ("nvlink", "nvlink-pairs", "pcie", "unified")
GPU_KEYS = {
    "$schema", "name", "names", "memory", "memory-cuda", "compute-capability", "architecture", "interconnect", "vendor", "source",
}  # fmt: skip
MACHINE_KEYS = {
    "$schema", "name", "names", "gpu", "count", "nodes", "memory", "memory-cuda", "interconnect", "compute-capability",
    "architecture", "driver", "cuda", "host-memory", "vendor", "source",
}  # fmt: skip


class BadProfile(ValueError):
    """What is wrong with a profile, in one sentence with its remedy."""


def check_keys(table: Mapping[str, Any], known: set[str]) -> None:
    """Raises BadProfile for a key that no profile of this kind has."""
    for key in table:
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, sorted(known), 1)
            remedy = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(sorted(known))}."
            raise BadProfile(f"{key} is not a key of this profile. {remedy}")


def amount(table: Mapping[str, Any], key: str) -> int | None:
    """An amount of memory, None where absent."""
    if key not in table:
        return None
    try:
        return parse_bytes(str(table[key]))
    except BadQuantity as error:
        raise BadProfile(f'{key}: {error}. Write an amount as "97887 MiB" or "96 GiB".') from None


def whole(table: Mapping[str, Any], key: str, default: int | None) -> int | None:
    """A positive whole number."""
    value = table.get(key, default)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 100_000):
        return value
    raise BadProfile(f"{key} = {value!r} is not a positive whole number. Write it without quotes, such as {key} = 8.")


def words(table: Mapping[str, Any], key: str) -> str | None:
    """A text, None where absent."""
    value = table.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadProfile(f"{key} = {value!r} is not text. Put it in quotes.")


def capability(table: Mapping[str, Any]) -> tuple[int, int] | None:
    """ "12.0" as (12, 0)."""
    text = words(table, "compute-capability")
    if text is None:
        return None
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        raise BadProfile(f'compute-capability = "{text}" is not a version. Write it as "9.0".')
    return int(major), int(minor)


def interconnect(table: Mapping[str, Any]) -> str | None:
    """One of the four kinds of link."""
    text = words(table, "interconnect")
    if text is not None and text not in INTERCONNECTS:
        raise BadProfile(f'interconnect = "{text}" is not known. Use {", ".join(INTERCONNECTS)}.')
    return text


def sources(table: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The source of each figure group. Raises BadProfile where there is none."""
    source = table.get("source")
    if not isinstance(source, Mapping) or not source or not all(isinstance(text, str) for text in source.values()):
        raise BadProfile("The profile names no source. Add a [source] table that says where each figure comes from.")
    return tuple((str(key), str(text)) for key, text in source.items())


def gpu_from_table(table: Mapping[str, Any]) -> Gpu:
    """A GPU profile. Raises BadProfile."""
    check_keys(table, GPU_KEYS)
    sources(table)
    name = words(table, "name")
    if not name:
        raise BadProfile('The profile has no name. Add name = "…".')
    return Gpu(
        name,
        amount(table, "memory"),
        amount(table, "memory-cuda"),
        capability(table),
        words(table, "architecture"),
        interconnect(table),
        words(table, "vendor") or "nvidia",
    )


def hardware_from_table(table: Mapping[str, Any], gpu: Gpu | None) -> Hardware:
    """A machine profile, with what `gpu` settles filled in. Raises BadProfile."""
    check_keys(table, MACHINE_KEYS)
    count = whole(table, "count", None)
    links = interconnect(table)
    if links is None and gpu is not None and (count != 1 or gpu.interconnect == "unified"):
        links = gpu.interconnect  # a single GPU has no link to speak of
    return Hardware(
        words(table, "name"),
        gpu.name if gpu else words(table, "gpu"),
        count,
        whole(table, "nodes", 1) or 1,
        amount(table, "memory") or (gpu.memory if gpu else None),
        amount(table, "memory-cuda") or (gpu.memory_cuda if gpu else None),
        links,
        capability(table) or (gpu.compute_capability if gpu else None),
        words(table, "architecture") or (gpu.architecture if gpu else None),
        words(table, "driver"),
        words(table, "cuda"),
        amount(table, "host-memory"),
        words(table, "vendor") or (gpu.vendor if gpu else None),
        sources(table),
    )
