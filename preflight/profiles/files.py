"""Profiles and models read from files that a launch names."""

import os
from typing import Any

from preflight.hardware.types import Hardware
from preflight.model.types import Model
from preflight.profiles.find import MAX_PROFILE_BYTES
from preflight.profiles.hardware_profile import BadProfile, hardware_from_table, words
from preflight.profiles.model_profile import model_from_table
from preflight.profiles.results import Broken, NotFound


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file. Raises BadProfile with what is wrong and where."""
    import tomli

    try:
        if os.path.getsize(path) > MAX_PROFILE_BYTES:
            raise BadProfile(f"{path} is over {MAX_PROFILE_BYTES // 10**6} MB. A profile is a small TOML file.")
        with open(path, "rb") as file:
            return tomli.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise BadProfile(f"{path} cannot be read ({error.strerror or error}). Check the path and its permissions.") from None
    except UnicodeDecodeError:
        raise BadProfile(f"{path} is not UTF-8 text. Save the profile as UTF-8.") from None
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise BadProfile(f"{path} is not TOML: {error}. Correct the file.") from None


def model_from_path(name: str, path: str) -> Model | Broken:
    """A model profile, or a model's own files."""
    try:
        if path.lower().endswith(".toml"):
            return model_from_table(read_toml(path))
        from preflight.model.importing.errors import BadModel
        from preflight.model.importing.files import import_model

        try:
            return import_model(path)
        except BadModel as error:
            return Broken(name, str(error), path)
    except BadProfile as error:
        return Broken(name, str(error), path)


def hardware_from_path(name: str, path: str) -> Hardware | Broken | NotFound:
    """A machine profile; a `gpu` that the catalogue knows fills in what the profile does not say."""
    from preflight.profiles.find import find_gpu

    if os.path.isdir(path):
        return Broken(name, f"{name} is a folder. Name the profile file in it.", path)
    try:
        table = read_toml(path)
        gpu = words(table, "gpu")
        return hardware_from_table(table, find_gpu(gpu) if gpu else None)
    except BadProfile as error:
        return Broken(name, str(error), path)


def model_from_hub_cache(name: str) -> Model | Broken | None:
    """A hub id that was downloaded to this machine's own cache; None where it was not."""
    parts = name.split("/")
    if len(parts) != 2 or not all(part and part not in (".", "..") for part in parts):
        return None
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface"
    )
    cache = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or os.path.join(home, "hub")
    folder = os.path.join(cache, f"models--{parts[0]}--{parts[1]}")
    try:
        with open(os.path.join(folder, "refs", "main"), encoding="ascii") as file:
            revision = file.read(200).strip()
    except (OSError, ValueError):
        return None
    snapshot = os.path.join(folder, "snapshots", revision)
    if not revision or "/" in revision or not os.path.isfile(os.path.join(snapshot, "config.json")):
        return None
    return model_from_path(name, snapshot)
