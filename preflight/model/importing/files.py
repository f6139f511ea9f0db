"""A `Model` from files on disk: a model directory or its config.json.

Nothing of what a directory holds is run, `auto_map` included: only JSON and binary headers are read.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from preflight.model.importing.config import model_from_config
from preflight.model.types import Model

MAX_CONFIG_BYTES = 10_000_000


class BadModel(ValueError):
    """Why a model's files cannot be read: one sentence of fact and one of remedy."""


def import_model(path: str) -> Model:
    """The model that a directory or a config.json describes. Raises BadModel."""
    folder, config_path = (path, os.path.join(path, "config.json")) if os.path.isdir(path) else (os.path.dirname(path), path)
    config = read_json(config_path)
    sidecar_path = os.path.join(folder, "hf_quant_config.json")
    sidecar = read_json(sidecar_path) if os.path.isfile(sidecar_path) else None
    name = os.path.basename(os.path.abspath(folder or os.curdir))
    return model_from_config(config, name, sidecar)


def read_json(path: str) -> Mapping[str, Any]:
    """A JSON object. Raises BadModel."""
    try:
        if os.path.getsize(path) > MAX_CONFIG_BYTES:
            raise BadModel(f"{path} is over {MAX_CONFIG_BYTES // 10**6} MB. A configuration is a small JSON file.")
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
