"""Whole-process CPU time of a cold lint, paired with yamllint and a bare interpreter; and of a thousand files.

    python scripts/benchmark.py [--runs 21] [--write]      --write: docs/benchmark.json, which the README shows

Run it with the Python of an environment that preflight is installed in (`pip install .`, not `-e`: the wheel has all rules in
one module), beside yamllint and check-jsonschema.

Each figure is the CPU time that the operating system accounts to a finished process and its children (user and system),
the commands in turn, so that a drift of the machine's speed falls on all alike. The median is printed, and the ratio pair
by pair.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = "preflight lint launch.toml"
LAUNCH = ROOT / "examples" / "kimi-k2.5-8x96.launch.toml"


def cpu_seconds(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def yaml_of_the_size(path: Path, size: int) -> None:
    """A deployment file that yamllint has nothing against, as long as the launch file."""
    text = "---\nservices:\n"
    number = 0
    while len(text) < size:
        text += f"  server-{number}:\n    image: engine:v0.5.9\n    command: --tp-size 8\n"
        number += 1
    path.write_text(text)


def paired(commands: dict[str, list[str]], folder: Path, runs: int) -> dict[str, list[float]]:
    for command in commands.values():
        cpu_seconds(command, folder)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(cpu_seconds(command, folder))
    return times


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--runs", type=int, default=21)
    arguments.add_argument("--write", action="store_true", help="keep the figures in docs/benchmark.json")
    options = arguments.parse_args()
    preflight = [sys.executable, "-m", "preflight", "lint"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        shutil.copy(LAUNCH, folder / "launch.toml")
        yaml_of_the_size(folder / "compose.yaml", LAUNCH.stat().st_size)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled, so measure it compiled
        commands = {
            OWN: [*preflight, "launch.toml"],
            "yamllint compose.yaml": [sys.executable, "-m", "yamllint", "compose.yaml"],
            "check-jsonschema compose.yaml": [
                sys.executable,
                "-m",
                "check_jsonschema",
                "--builtin-schema",
                "vendor.compose-spec",
                "compose.yaml",
            ],
            "python -c pass": [sys.executable, "-c", "pass"],
        }
        times = paired(commands, folder, options.runs)
        many = folder / "many"
        many.mkdir()
        for number in range(1000):
            shutil.copy(LAUNCH, many / f"{number:04}.launch.toml")
        start = time.perf_counter()
        cpu = cpu_seconds([*preflight, "many"], folder)
        wall = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    own = times[OWN]
    figures = {
        "commands": [
            {
                "command": label,
                "cpu_ms": round(statistics.median(values) * 1000),
                "ratio": round(statistics.median(mine / other for mine, other in zip(own, values, strict=True)), 2),
            }
            for label, values in times.items()
        ],
        "thousand_files": {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2), "peak_mib": round(peak)},
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "runs": options.runs,
    }
    print(json.dumps(figures, indent=2))
    if options.write:
        (ROOT / "docs" / "benchmark.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
