"""Public boots as launch files: where they lie, and how a record becomes a launch.toml with its model beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.truth.models import model_config

ROOT = Path(__file__).resolve().parents[2]
ABSENT = "no truth data: set PREFLIGHT_TRUTH, or lay it beside the repository as ../shared/truth"


def truth_folder() -> Path | None:
    """The folder with boots.jsonl; None where there is none."""
    given = os.environ.get("PREFLIGHT_TRUTH")
    places = [Path(given)] if given else [ROOT.parent / "shared" / "truth"]
    return next((place for place in places if (place / "boots.jsonl").is_file()), None)


@lru_cache(maxsize=8)
def load(name: str) -> tuple[dict[str, Any], ...]:
    folder = truth_folder()
    assert folder is not None, ABSENT
    with open(folder / name, encoding="utf-8") as file:
        return tuple(json.loads(line) for line in file if line.strip())


def boots(engine: str) -> tuple[dict[str, Any], ...]:
    return tuple(record for record in load("boots.jsonl") if record["engine"] == engine)


def clean(engine: str) -> tuple[dict[str, Any], ...]:
    return tuple(record for record in load("clean.jsonl") if record["engine"] == engine)


def cases(engine: str) -> tuple[dict[str, Any], ...]:
    return tuple(record for record in load("cases.jsonl") if record["engine"] == engine)


def source(record: Mapping[str, Any]) -> str:
    """The origin of a record's figures: CI pools of one project come from few machines, all others stand for themselves."""
    if "derived_mean" in record.get("observed_extra", {}):
        return f"CI {record['gpu']}"
    return "logs: exact version" if record.get("version_exact") else "logs: nearest version"


def launch_toml(record: Mapping[str, Any], folder: Path, *, observed: bool = False, fraction: float | None = None) -> str:
    """The text of a launch file for a record; model files go to `folder`.

    With `observed`, the record's free memory before and after loading is given, as printed.
    """
    lines = [f'engine = "{record["engine"]}"', f'engine-version = "{record["version"]}"', "", "[hardware]"]
    lines += [f"{key} = {_toml(value)}" for key, value in _hardware(record).items()]
    if record["model"]:
        lines += ["", "[model]", f"profile = {_toml(model_name(record['model'], record, folder))}"]
    if record.get("draft"):
        lines.append(f"draft = {_toml(model_name(record['draft'], record, folder))}")
    flags = {**record["flags"], **({} if fraction is None else {"mem-fraction-static": fraction})}
    lines += ["", "[flags]", *(f"{key} = {_toml(value)}" for key, value in flags.items())]
    if record.get("env"):
        lines += ["", "[env]", *(f"{key} = {_toml(value)}" for key, value in record["env"].items())]
    figures = dict(_figures(record)) if observed else {}
    if figures:
        lines += ["", "[observed]", *(f'{key} = "{value:.2f} GiB"' for key, value in figures.items())]
    return "\n".join(lines) + "\n"


def _hardware(record: Mapping[str, Any]) -> dict[str, Any]:
    hardware: dict[str, Any] = {key: record[field] for key, field in (("gpu", "gpu"), ("count", "gpu_count")) if record[field]}
    if record.get("gpu_mib"):
        hardware["memory"] = f"{record['gpu_mib']} MiB"
    if record.get("interconnect"):
        hardware["interconnect"] = record["interconnect"]
    if record.get("nodes", 1) > 1:
        hardware["nodes"] = record["nodes"]
    if record.get("host_free_gb"):
        hardware["host-memory"] = f"{record['host_free_gb']} GB"
    return hardware


def _figures(record: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, field in (("free-before-load", "free_before_gib"), ("free-after-load", "free_after_gib")):
        value = record["observed"].get(field)
        if value is not None:
            yield key, value


def model_name(name: str, record: Mapping[str, Any], folder: Path) -> str:
    """The hub id where the catalogue has it, else a folder with the config.json of the facts, else the hub id."""
    from preflight.model.types import Model
    from preflight.profiles.find import find_model

    if isinstance(find_model(name, folder), Model):
        return name
    config = model_config(name, record.get("quantization") or "", load("models.jsonl"))
    if config is None:
        return name
    place = folder / name.replace("/", "--")
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return f"./{place.name}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_toml(item)}' for key, item in value.items())} }}"
    return json.dumps(value) if isinstance(value, str) else repr(value)
