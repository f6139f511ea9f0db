"""Compiling the catalogue: TOML sources to the JSON that the lint path reads.

Run `python -m preflight.profiles.compile` after changing a profile; a test fails while the two differ.
"""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from preflight.hardware.types import Gpu, Hardware
from preflight.model.codec import pack
from preflight.profiles.files import read_toml
from preflight.profiles.find import COMPILED
from preflight.profiles.hardware_profile import BadProfile, gpu_from_table, hardware_from_table, sources
from preflight.profiles.model_profile import model_from_table
from preflight.profiles.spelling import hardware_key, model_key

FOLDER = Path(__file__).parent
Result = TypeVar("Result")


def compiled_files() -> dict[str, str]:
    """Every file of the compiled catalogue by its relative path. Raises BadProfile naming the source at fault."""
    files = {"hardware.json": dump(hardware_catalogue())}
    names: dict[str, str] = {}
    for path in sorted((FOLDER / "models").glob("*.toml")):
        table = checked(path)
        model = at(path, partial(model_from_table, table))
        if model.name != path.stem:
            raise BadProfile(f'{path.name} has name = "{model.name}". Name the file after the profile.')
        for name in (model.name, *table.get("names", ())):
            add(names, model_key(name), model.name, path)
        files[f"models/{model.name}.json"] = dump(pack(model))
    files["models.json"] = dump(names)
    return files


def hardware_catalogue() -> dict[str, Any]:
    """All GPUs and machines, with every name in use."""
    names: dict[str, str] = {}
    gpus: dict[str, Any] = {}
    found: dict[str, Gpu] = {}
    origins: dict[str, Any] = {}
    machines: dict[str, Any] = {}
    for path in sorted((FOLDER / "gpus").glob("*.toml")):
        table = checked(path)
        gpu = at(path, partial(gpu_from_table, table))
        found[gpu.name], gpus[gpu.name] = gpu, plain(gpu._asdict(), Gpu._field_defaults)
        origins[gpu.name] = dict(sources(table))
        for name in (gpu.name, *table.get("names", ())):
            add(names, hardware_key(name), gpu.name, path)
    for path in sorted((FOLDER / "machines").glob("*.toml")):
        table = checked(path)
        if table.get("gpu") not in found:
            raise BadProfile(f"{path.name} names the GPU {table.get('gpu')!r}, which has no profile. Add it to gpus/.")
        machine = at(path, partial(hardware_from_table, table, found[table["gpu"]]))
        packed = plain(machine._asdict(), Hardware._field_defaults)
        packed["source"] = {**origins[table["gpu"]], **dict(machine.source)}
        machines[str(machine.name)] = packed
        for name in (str(machine.name), *table.get("names", ())):
            add(names, hardware_key(name), str(machine.name), path)
    return {"names": names, "gpus": gpus, "machines": machines, "sources": origins}


def checked(path: Path) -> dict[str, Any]:
    """A source file."""
    return at(path, partial(read_toml, str(path)))


def at(path: Path, action: Callable[[], Result]) -> Result:
    """The action's result, its complaint prefixed with the file."""
    try:
        return action()
    except BadProfile as error:
        raise BadProfile(f"{path.name}: {error}") from None


def add(names: dict[str, str], key: str, value: str, path: Path) -> None:
    """A name that no other profile has."""
    if names.get(key, value) != value:
        raise BadProfile(f"{path.name}: {key} already names {names[key]}. Every name means one profile.")
    names[key] = value


def plain(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """JSON values without what is default."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if key not in defaults or value != defaults[key]
    }


def dump(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def compile_profiles() -> int:
    """Writes the compiled catalogue and removes what has no source any more. Returns the number of files."""
    files = compiled_files()
    folder = Path(COMPILED)
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for stale in (path for path in folder.rglob("*.json") if path.relative_to(folder).as_posix() not in files):
        os.unlink(stale)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(files)


if __name__ == "__main__":
    print(f"{compile_profiles()} files")
