"""A `Model` from files on disk: a model directory, its config.json, an index, safetensors or GGUF.

Nothing of what a directory holds is run, `auto_map` included: only JSON and binary headers are read.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from preflight.model.importing.config import model_from_config
from preflight.model.importing.errors import BadModel
from preflight.model.importing.safetensors import Tensor
from preflight.model.types import Model

MAX_CONFIG_BYTES = 10_000_000
MAX_INDEX_BYTES = 200_000_000
INDEX = "model.safetensors.index.json"
DISAGREE = 0.05  # share by which an index's own total may differ from the arithmetic


def import_model(path: str) -> Model:
    """The model that a directory or one of its files describes. Raises BadModel."""
    lower = path.lower()
    if not os.path.isdir(path):
        if lower.endswith(".gguf"):
            from preflight.model.importing.gguf import model_from_gguf

            return model_from_gguf(path)
        folder = os.path.dirname(path)
        if lower.endswith(".safetensors"):
            config = os.path.join(folder, "config.json")
            if not os.path.isfile(config):
                raise BadModel(f"{path} has no config.json beside it. Name the model's directory.")
            return with_headers(folder, model_of_config(config), [path])
        if lower.endswith(".index.json"):
            return import_model(folder or os.curdir)
        return with_weights(folder, model_of_config(path)) if os.path.basename(path) == "config.json" else model_of_config(path)
    if not os.path.isfile(os.path.join(path, "config.json")):
        return only_gguf(path)
    return with_weights(path, model_of_config(os.path.join(path, "config.json")))


def only_gguf(folder: str) -> Model:
    """A directory without config.json: its one GGUF file. Raises BadModel."""
    found = [name for name in listing(folder) if name.lower().endswith(".gguf")]
    if len(found) == 1:
        return import_model(os.path.join(folder, found[0]))
    what = "several GGUF files" if found else "no config.json"
    raise BadModel(f"{folder} has {what}. Name the {'file' if found else 'directory that has one'}.")


def listing(folder: str) -> list[str]:
    """Names in a directory, sorted. Raises BadModel."""
    try:
        return sorted(os.listdir(folder or os.curdir))
    except OSError as error:
        raise BadModel(f"{folder} cannot be read ({error.strerror or error}). Check the path and its permissions.") from None


def model_of_config(path: str) -> Model:
    """The model that config.json (and hf_quant_config.json beside it) describes."""
    config = read_json(path)
    folder = os.path.dirname(path)
    sidecar_path = os.path.join(folder, "hf_quant_config.json")
    sidecar = read_json(sidecar_path) if os.path.isfile(sidecar_path) else None
    return model_from_config(config, os.path.basename(os.path.abspath(folder or os.curdir)), sidecar)


def with_weights(folder: str, model: Model) -> Model:
    """Exact bytes from the headers of the checkpoint's shards where they are all there, else the arithmetic."""
    index = os.path.join(folder, INDEX)
    total = None
    if os.path.isfile(index):
        table = read_json(index, MAX_INDEX_BYTES)
        names = shard_names(table, index)
        metadata = table.get("metadata")
        stated = metadata.get("total_size") if isinstance(metadata, Mapping) else None
        total = int(stated) if isinstance(stated, int | float) and 0 < stated < 1 << 60 else None
    else:
        names = [name for name in listing(folder) if name.lower().endswith(".safetensors")]
        names = [name for name in names if not name.startswith("consolidated")] or names
    paths = [os.path.join(folder, name) for name in names]
    if paths and all(os.path.lexists(path) for path in paths):
        return with_headers(folder, model, paths)
    return checked_against(total, model)


def shard_names(table: Mapping[str, Any], path: str) -> list[str]:
    """The files that an index names, in order. Raises BadModel."""
    weight_map = table.get("weight_map")
    if not isinstance(weight_map, Mapping):
        raise BadModel(f"{path} has no weight_map. Download the index again.")
    names = sorted({str(name) for name in weight_map.values()})
    for name in names:
        if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            raise BadModel(f"{path} names the shard {name[:80]}, outside its directory. Download the index again.")
    return names


def with_headers(folder: str, model: Model, paths: list[str]) -> Model:
    """The model with exact bytes from these files; Git LFS pointers leave the arithmetic as it is."""
    from preflight.model.importing.safetensors import is_pointer, read_header
    from preflight.model.importing.tensors import components_from_tensors

    tensors: list[Tensor] = []
    for path in paths:
        try:
            if is_pointer(path):
                return model
        except OSError as error:
            raise BadModel(f"{path} cannot be read ({error.strerror or error}). Check the path.") from None
        tensors.extend(read_header(path))
    components = components_from_tensors(tensors, model)
    source = (("geometry", "config.json"), ("weights", f"headers of {len(paths)} safetensors files"))
    missing = tuple(field for field in model.missing if model.attention is None)
    return model._replace(components=components, source=source, missing=missing)


def checked_against(total: int | None, model: Model) -> Model:
    """The arithmetic, unless the checkpoint's own total says that it is wrong: then the weights are unknown."""
    if total is None or model.components is None:
        return model
    from preflight.model.formats import stored_bytes

    computed = sum(
        stored_bytes(part.elements, part.format, part.row)
        for part in model.components
        if not part.copy and not part.tied and part.engines != ("vllm",)
    )
    if abs(computed - total) <= DISAGREE * total:
        return model
    note = f"the index counts {total / 2**30:.1f} GiB, the configuration {computed / 2**30:.1f} GiB"
    return model._replace(components=None, missing=(*model.missing, note))


def read_json(path: str, limit: int = MAX_CONFIG_BYTES) -> Mapping[str, Any]:
    """A JSON object. Raises BadModel."""
    try:
        if os.path.getsize(path) > limit:
            raise BadModel(f"{path} is over {limit // 10**6} MB. A file of this kind is smaller.")
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except OSError as error:
        raise BadModel(f"{path} cannot be read ({error.strerror or error}). Check the path and its permissions.") from None
    except RecursionError:
        raise BadModel(f"{path} is nested too deeply to be a configuration. Check the file.") from None
    except ValueError as error:
        raise BadModel(f"{path} is not JSON ({error}). Check the file.") from None
    if not isinstance(value, Mapping):
        raise BadModel(f"{path} does not hold a JSON object. Check the file.")
    return value
