"""Reading what nvidia-smi prints: its table, its CSV queries, and `topo -m`; one text may hold several of them.

Sources: nvidia-smi manual page (docs.nvidia.com/deploy/nvidia-smi) and printed output of driver series 450 to 580.
"""

import csv
import re

from preflight.hardware.found import MIB, BadOutput, Found, Process, SeenGpu

VERSIONS = re.compile(r"Driver Version:\s*([\d.]+)(?:.*?CUDA Version:\s*([\d.]+))?")
GPU_LINE = re.compile(r"^\|\s+(\d+)\s+(\S.*?)\s+(?:On|Off|N/A)\s*\|")
MEMORY_LINE = re.compile(r"(\d+)MiB\s*/\s*(\d+)MiB")
MIG_LINE = re.compile(r"\|\s+(Enabled|Disabled)\s*\|\s*$")
PROCESS_LINE = re.compile(r"^\|\s+(\d+)\s+(?:\S+\s+\S+\s+)?(\d+)\s+([CGM+]+)\s+(.*?)\s+(\d+)MiB\s*\|")
LINK_ROW = re.compile(r"^GPU\d+\s")
ESCAPES = re.compile(r"\x1b\[[\d;]*m")


def read_nvidia_smi(text: str) -> Found:
    """The machine that a printed table or CSV shows. Raises BadOutput."""
    text = ESCAPES.sub("", text)
    gpus = csv_gpus(text) or table_gpus(text)
    if not gpus:
        raise BadOutput("No GPU is in this text. Save the output of `nvidia-smi` or of a CSV query, unchanged.")
    versions = VERSIONS.search(text)
    driver = versions.group(1) if versions else csv_driver(text)
    cuda = versions.group(2) if versions else None
    return Found(tuple(gpus), "nvidia", driver, cuda, topology(text), "nvidia-smi")


def table_gpus(text: str) -> list[SeenGpu]:
    """GPUs of the plain table."""
    gpus: dict[int, SeenGpu] = {}
    current = None
    in_processes = False
    for line in text.splitlines():
        in_processes = in_processes or "Processes:" in line
        process = PROCESS_LINE.match(line) if in_processes else None
        if process:
            add_process(gpus, process)
            continue
        if in_processes:
            continue
        found = GPU_LINE.match(line)
        if found and int(found.group(1)) not in gpus:
            current = int(found.group(1))
            gpus[current] = SeenGpu(current, found.group(2))
            continue
        if current is None:
            continue
        memory = MEMORY_LINE.search(line)
        if memory and gpus[current].memory is None:
            used, total = int(memory.group(1)) * MIB, int(memory.group(2)) * MIB
            gpus[current] = gpus[current]._replace(memory=total, used=used, free=total - used)
        mig = MIG_LINE.search(line)
        if mig and gpus[current].mig is None:
            gpus[current] = gpus[current]._replace(mig=mig.group(1) == "Enabled")
    return list(gpus.values())


def add_process(gpus: dict[int, SeenGpu], match: re.Match[str]) -> None:
    """A line of the process table to its GPU."""
    index = int(match.group(1))
    if index in gpus:
        process = Process(int(match.group(2)), match.group(4), int(match.group(5)) * MIB)
        gpus[index] = gpus[index]._replace(processes=(*gpus[index].processes, process))


def csv_rows(text: str) -> list[dict[str, str]]:
    """Rows of a CSV query with its header line; empty without one."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        fields = [field.strip() for field in line.split(",")]
        if "name" in fields and any(field.startswith("memory.total") for field in fields):
            keys = [field.split(" ")[0] for field in fields]
            rows = csv.reader(entry for entry in lines[start + 1 :] if entry.count(",") >= len(keys) - 1)
            return [dict(zip(keys, (value.strip() for value in row), strict=False)) for row in rows]
    return []


def csv_gpus(text: str) -> list[SeenGpu]:
    """GPUs of `nvidia-smi --query-gpu=… --format=csv`."""
    gpus = []
    for position, row in enumerate(csv_rows(text)):
        total, used, free = (mib(row.get(f"memory.{what}")) for what in ("total", "used", "free"))
        index = row.get("index", "")
        capability = row.get("compute_cap", "").partition(".")
        gpus.append(
            SeenGpu(
                int(index) if index.isdecimal() else position,
                row.get("name", ""),
                total,
                used,
                total - used if free is None and total is not None and used is not None else free,
                compute_capability=(int(capability[0]), int(capability[2]))
                if capability[0].isdecimal() and capability[2].isdecimal()
                else None,
                mig={"Enabled": True, "Disabled": False}.get(row.get("mig.mode.current", "")),
            )
        )
    return gpus


def csv_driver(text: str) -> str | None:
    """The driver of a CSV query that asked for it."""
    return next((row["driver_version"] for row in csv_rows(text) if row.get("driver_version")), None)


def mib(text: str | None) -> int | None:
    """ "81559 MiB" (or a bare number, with nounits) as bytes."""
    number = (text or "").split(" ")[0]
    return int(number) * MIB if number.isdecimal() else None


def topology(text: str) -> str | None:
    """The links of `nvidia-smi topo -m`: nvlink where every pair has one, nvlink-pairs where some have, else pcie."""
    rows = [line.split() for line in text.splitlines() if LINK_ROW.match(line) and " X " in f" {line} "]
    count = len(rows)
    if count < 2:
        return None
    cells = [row[1 : count + 1] for row in rows]
    linked = [cell.startswith("NV") for at, row in enumerate(cells) for to, cell in enumerate(row) if at != to]
    if len(linked) != count * (count - 1):
        return None
    if all(linked):
        return "nvlink"
    return "nvlink-pairs" if any(linked) else "pcie"
