"""The facts about a machine that memory arithmetic stands on. None always means unknown."""

from preflight.records import NamedTuple


class Gpu(NamedTuple):
    """One GPU model."""

    name: str
    memory: int | None = None  # bytes, total as nvidia-smi (rocm-smi) reports it
    memory_cuda: int | None = None  # bytes, total as the CUDA runtime reports it
    compute_capability: tuple[int, int] | None = None
    architecture: str | None = None  # turing, ampere, ada, hopper, blackwell, cdna3, …
    interconnect: str | None = None  # what the board itself settles: "pcie" for boards without links
    vendor: str = "nvidia"


class Hardware(NamedTuple):
    """One machine, or several alike."""

    name: str | None = None
    gpu: str | None = None  # name of the GPU in the catalogue, or as given
    count: int | None = None  # type: ignore[assignment]  # GPUs per node; nobody counts values in this tuple
    nodes: int = 1
    memory: int | None = None  # bytes per GPU, total as nvidia-smi reports it
    memory_cuda: int | None = None  # bytes per GPU, total as CUDA reports it
    interconnect: str | None = None  # nvlink | nvlink-pairs | pcie | unified
    compute_capability: tuple[int, int] | None = None
    architecture: str | None = None
    driver: str | None = None
    cuda: str | None = None
    host_memory: int | None = None  # bytes per node
    vendor: str | None = None  # nvidia | amd
    source: tuple[tuple[str, str], ...] = ()


KINDS: tuple[tuple[str, tuple[int, int] | None], ...] = (
    ("nvidia", (9, 0)),
    ("nvidia", (8, 0)),
    ("nvidia", (10, 0)),
    ("nvidia", (12, 0)),
    ("nvidia", (8, 9)),
    ("amd", None),
    ("nvidia", (10, 3)),
    ("nvidia", (12, 1)),
    ("nvidia", (8, 6)),
    ("nvidia", (7, 5)),
)
"""Vendor and compute capability of the GPUs that LLM servers run on, the commonest first."""
