"""What a machine was seen to have, from its own tools."""

from preflight.records import NamedTuple

MIB = 1 << 20


class Process(NamedTuple):
    """One process that holds memory of a GPU."""

    pid: int
    name: str
    memory: int | None = None  # bytes


class SeenGpu(NamedTuple):
    """One GPU as seen."""

    position: int
    name: str  # as the tool prints it, possibly cut short with "..."
    memory: int | None = None  # bytes, total
    used: int | None = None
    free: int | None = None
    memory_cuda: int | None = None  # bytes, where a tool gives it
    compute_capability: tuple[int, int] | None = None
    mig: bool | None = None
    processes: tuple[Process, ...] = ()


class Found(NamedTuple):
    """One machine as seen."""

    gpus: tuple[SeenGpu, ...]
    vendor: str = "nvidia"
    driver: str | None = None
    cuda: str | None = None  # the newest CUDA that the driver serves
    interconnect: str | None = None  # nvlink | nvlink-pairs | pcie, from the topology
    source: str = ""


class BadOutput(ValueError):
    """Why a tool's output cannot be read: one sentence of fact and one of remedy."""
