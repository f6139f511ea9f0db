"""What `preflight profile hardware` and `preflight profile model` do, without the command line."""

import os
from pathlib import Path

from preflight.hardware.found import BadOutput, Found
from preflight.hardware.types import Gpu
from preflight.profiles.files import read_toml
from preflight.profiles.find import compiled, find_gpu, find_hardware
from preflight.profiles.hardware_profile import BadProfile
from preflight.profiles.results import Broken
from preflight.profiles.spelling import hardware_key
from preflight.profiles.toml_writer import toml_text

MAX_OUTPUT_BYTES = 10_000_000


def profile_hardware(saved: Path | None = None, name: str | None = None) -> str | Broken:
    """A machine profile as TOML, of this machine or from saved output of nvidia-smi or rocm-smi."""
    found = seen(saved)
    return found if isinstance(found, Broken) else hardware_toml(found, name)


def seen(saved: Path | None = None) -> Found | Broken:
    """The machine as its tools show it."""
    from preflight.hardware.live import read_machine, read_text

    try:
        if saved is None:
            return read_machine()
        if os.path.getsize(saved) > MAX_OUTPUT_BYTES:
            return Broken(str(saved), f"{saved} is over {MAX_OUTPUT_BYTES // 10**6} MB. Save only the tool's output.")
        return read_text(saved.read_text(encoding="utf-8", errors="replace"))
    except BadOutput as error:
        return Broken(str(saved or "this machine"), str(error))
    except OSError as error:
        return Broken(str(saved), f"{saved} cannot be read ({error.strerror or error}). Check the path.")


def hardware_toml(found: Found, name: str | None = None) -> str:
    """What was found, as a profile: the smallest total, as engines take it."""
    totals = [gpu.memory for gpu in found.gpus if gpu.memory]
    printed = found.gpus[0].name
    known = known_gpu(printed)
    count = len(found.gpus)
    table = {
        "name": name or f"{count}x-{known.name if known else hardware_key(printed)}",
        "gpu": known.name if known else printed,
        "count": count,
        "memory": f"{min(totals) // 2**20} MiB" if totals else None,
        "interconnect": found.interconnect,
        "compute-capability": ".".join(map(str, found.gpus[0].compute_capability)) if found.gpus[0].compute_capability else None,
        "driver": found.driver,
        "vendor": found.vendor if known is None else None,
        "source": {"memory": f"{found.source} on this machine"},
    }
    return toml_text(table)


def differences(declared: str, saved: Path | None, near: Path) -> str | Broken:
    """How the machine differs from a declared profile, one line each; "no differences" where it does not."""
    from preflight.hardware.compare import compare
    from preflight.hardware.types import Hardware
    from preflight.registry import registry

    profile = find_hardware(declared, near)
    if isinstance(profile, Broken):
        return profile
    if not isinstance(profile, Hardware):
        return Broken(declared, f"{declared} is not in the catalogue. `preflight profile list hardware` shows the names.")
    found = seen(saved)
    if isinstance(found, Broken):
        return found
    rules = registry()
    lines = []
    for one in compare(profile, found):
        rule = rules.find(one.kind)
        code = "" if rule is None else f"{rule.severity.word} {rule.code} "
        lines.append(f"{code}{one.kind}: {one.message} {one.remedy}")
    return "\n".join(lines) or "no differences"


def known_gpu(printed: str) -> Gpu | None:
    """The catalogue's GPU of a printed name; nvidia-smi cuts long names short with dots."""
    found = find_gpu(printed)
    if found is not None or not printed.endswith("..."):
        return found
    start = hardware_key(printed.rstrip("."))
    names = compiled("hardware.json")["names"]
    matching = {gpu for key, gpu in names.items() if key.startswith(start) and gpu in compiled("hardware.json")["gpus"]}
    return find_gpu(matching.pop()) if len(matching) == 1 else None


def profile_model(path: str, name: str | None = None) -> str | Broken:
    """A model profile as TOML, from a model directory or one of its files."""
    from preflight.model.importing.errors import BadModel
    from preflight.model.importing.files import import_model, read_json
    from preflight.profiles.model_writer import config_profile, stated_profile

    try:
        if path.lower().endswith(".toml"):
            read_toml(path)
            return Broken(path, f"{path} is a profile already. Name a model directory or its config.json.", path)
        model = import_model(path)
        slug = name or hardware_key(model.name)
        weights = dict(model.source).get("weights", "")
        if not weights.startswith("arithmetic"):
            source = {"model": f"{dict(model.source).get('geometry')} of {model.name}", "weights": weights}
            return stated_profile(model._replace(name=slug), [], source)
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        config = read_json(os.path.join(path, "config.json") if os.path.isdir(path) else path)
        beside = os.path.join(folder, "hf_quant_config.json")
        sidecar = read_json(beside) if os.path.isfile(beside) else None
        return config_profile(slug, [], config, sidecar, {"config": f"config.json of {model.name}"})
    except (BadModel, BadProfile) as error:
        return Broken(path, str(error), path)
