"""Looking up a model or a machine: the compiled catalogue first, then files near the linted one.

The catalogue is one index for models with one small file each, and one file for all GPUs and machines, so that a
lint opens two or three of them.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from preflight.hardware.types import Gpu, Hardware
from preflight.model.codec import unpack
from preflight.model.types import Model
from preflight.profiles.results import Broken, NotFound, nearest
from preflight.profiles.spelling import counted, hardware_key, model_key

COMPILED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled")
FILE_ENDINGS = (".toml", ".json", ".gguf", ".safetensors")
MAX_PROFILE_BYTES = 10_000_000
_cache: dict[str, Any] = {}
_models: dict[str, Model] = {}


def compiled(name: str) -> Any:
    """One compiled file of the catalogue, read once per process."""
    if name not in _cache:
        with open(os.path.join(COMPILED, name), encoding="utf-8") as file:
            _cache[name] = json.load(file)
    return _cache[name]


def find_model(name: str, near: str | os.PathLike[str] | None = None) -> Model | NotFound | Broken:
    """A model by catalogue name, hub id or alias (case-blind), then by a path relative to `near` (a file or folder)."""
    names: dict[str, str] = compiled("models.json")
    slug = names.get(model_key(name))
    if slug is not None:
        if slug not in _models:
            _models[slug] = unpack(compiled(os.path.join("models", slug + ".json")))
        return _models[slug]
    path = located(name, near)
    if isinstance(path, Broken):
        return path
    if path is not None:
        from preflight.profiles.files import model_from_path

        return model_from_path(name, path)
    from preflight.profiles.files import model_from_hub_cache

    return model_from_hub_cache(name) or NotFound(name, nearest(name, list(names)))


def find_hardware(name: str, near: str | os.PathLike[str] | None = None) -> Hardware | NotFound | Broken:
    """A machine ("8x-h200", a cloud instance), a GPU by any spelling, then a profile file relative to `near`."""
    catalogue = compiled("hardware.json")
    key = hardware_key(name)
    machine = catalogue["names"].get(key)
    if machine is not None and machine in catalogue["machines"]:
        return unpack_hardware(catalogue["machines"][machine])
    gpu = machine if machine is not None else None
    count = None
    if gpu is None:
        bare, count = counted(key)
        gpu = catalogue["names"].get(bare)
    if gpu in catalogue["gpus"] and (count is None or count > 0):
        return of_gpu(Gpu(**tuples(catalogue["gpus"][gpu])), count, catalogue["sources"][gpu])
    path = located(name, near)
    if isinstance(path, Broken):
        return path
    if path is not None:
        from preflight.profiles.files import hardware_from_path

        return hardware_from_path(name, path)
    return NotFound(name, nearest(bare if gpu is None else key, list(catalogue["names"])))


def find_gpu(name: str) -> Gpu | None:
    """A GPU of the catalogue by any spelling."""
    catalogue = compiled("hardware.json")
    gpu = catalogue["gpus"].get(catalogue["names"].get(hardware_key(name)))
    return Gpu(**tuples(gpu)) if gpu else None


def of_gpu(gpu: Gpu, count: int | None, source: Mapping[str, str]) -> Hardware:
    """One machine with `count` GPUs of a kind; a single GPU has no link to speak of unless its memory is shared."""
    links = gpu.interconnect if count != 1 or gpu.interconnect == "unified" else None
    return Hardware(
        name=f"{count}x-{gpu.name}" if count else gpu.name,
        gpu=gpu.name,
        count=count,
        memory=gpu.memory,
        memory_cuda=gpu.memory_cuda,
        interconnect=links,
        compute_capability=gpu.compute_capability,
        architecture=gpu.architecture,
        vendor=gpu.vendor,
        source=tuple(source.items()),
    )


def tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of a JSON table as tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def unpack_hardware(packed: Mapping[str, Any]) -> Hardware:
    """A machine from the compiled catalogue."""
    values = tuples(packed)
    values["source"] = tuple(packed.get("source", {}).items())
    return Hardware(**values)


def list_models() -> tuple[str, ...]:
    """Catalogue names of all models, sorted."""
    return tuple(sorted(set(compiled("models.json").values())))


def list_hardware() -> tuple[str, ...]:
    """Catalogue names of all GPUs and machines, sorted; "8x-" before a GPU's name gives a machine with eight of it."""
    catalogue = compiled("hardware.json")
    return tuple(sorted({*catalogue["gpus"], *catalogue["machines"]}))


def located(name: str, near: str | os.PathLike[str] | None) -> str | Broken | None:
    """The existing path that a spelling means, relative to `near`; Broken where it is plainly a path and not there."""
    if "\0" in name or len(name) > 1024 or not name.strip():
        return None
    base = os.fspath(near) if near is not None else os.curdir
    if not os.path.isdir(base):
        base = os.path.dirname(base) or os.curdir
    plain = name.startswith(("./", "../", "/", "~")) or "/" in name or "\\" in name
    path = os.path.join(base, os.path.expanduser(name))
    ending = name.lower().endswith(FILE_ENDINGS)
    try:
        if (plain or ending) and os.path.exists(path):
            return path
        if os.path.isdir(path) and os.path.isfile(os.path.join(path, "config.json")):
            return path
        if plain and os.path.islink(path):
            return Broken(name, f"{name} is a symbolic link that leads nowhere. Point it at the profile.", path)
    except (OSError, ValueError):
        return None
    if plain and ending:
        return Broken(name, f"{name} does not exist. Give a path relative to the file that names it.", path)
    return None
