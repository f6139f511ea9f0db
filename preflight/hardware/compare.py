"""Comparing a declared machine with the one that was found: pure, in facts that rules and commands turn into words."""

from preflight.hardware.found import Found, SeenGpu
from preflight.hardware.types import Hardware
from preflight.records import NamedTuple

# The oldest driver on which a CUDA toolkit of a major version runs (minor-version compatibility).
# Source: NVIDIA CUDA compatibility guide, docs.nvidia.com/deploy/cuda-compatibility.
OLDEST_DRIVER = {11: (450, 80, 2), 12: (525, 60, 13), 13: (580, 65, 6)}
TOTAL_TOLERANCE = 0.01  # share by which totals of one model differ between drivers
LEFTOVER = 1 << 29  # bytes; an idle GPU's own bookkeeping is less
BALANCE = 0.9  # SGLang refuses or warns below this share of free memory between ranks


class Difference(NamedTuple):
    """One way in which the machine is not what was declared."""

    kind: str  # fewer-gpus | other-gpu | less-memory | leftovers | imbalance | driver-too-old | sliced-gpu | other-links
    message: str  # one sentence of fact
    remedy: str
    gpus: tuple[int, ...] = ()
    declared: object = None
    found: object = None


def compare(declared: Hardware, found: Found) -> tuple[Difference, ...]:
    """All differences, the gravest first. What either side does not know is passed over."""
    checks = (fewer, other_gpu, less_memory, sliced, leftovers, imbalance, old_driver, other_links)
    return tuple(difference for check in checks if (difference := check(declared, found)) is not None)


def fewer(declared: Hardware, found: Found) -> Difference | None:
    """Fewer GPUs than declared per node."""
    here = len(found.gpus)
    if declared.count is None or here >= declared.count:
        return None
    return Difference(
        "fewer-gpus",
        f"{declared.count} GPUs are declared, {here} were found.",
        "Correct the count, or make all GPUs visible to this process.",
        declared=declared.count,
        found=here,
    )


def other_gpu(declared: Hardware, found: Found) -> Difference | None:
    """Another compute capability than declared."""
    seen = {gpu.compute_capability for gpu in found.gpus if gpu.compute_capability}
    if declared.compute_capability is None or not seen or seen == {declared.compute_capability}:
        return None
    wanted, names = ".".join(map(str, declared.compute_capability)), ", ".join(sorted({gpu.name for gpu in found.gpus}))
    return Difference(
        "other-gpu",
        f"The declared GPUs have compute capability {wanted}, {names} has another.",
        "Declare the GPU that is there.",
        declared=declared.compute_capability,
        found=tuple(sorted(seen)),
    )


def less_memory(declared: Hardware, found: Found) -> Difference | None:
    """A smaller total than declared: engines go by the smallest GPU of the machine."""
    totals = [(gpu.memory, gpu.position) for gpu in found.gpus if gpu.memory]
    if declared.memory is None or not totals:
        return None
    least, index = min(totals)
    if least >= declared.memory * (1 - TOTAL_TOLERANCE):
        return None
    return Difference(
        "less-memory",
        f"GPU {index} has {least / 2**30:.1f} GiB, {declared.memory / 2**30:.1f} GiB are declared.",
        "Declare the smallest total: automatic settings go by it.",
        (index,),
        declared.memory,
        least,
    )


def sliced(declared: Hardware, found: Found) -> Difference | None:
    """GPUs in MIG mode, whose slices are smaller than the board."""
    indices = tuple(gpu.position for gpu in found.gpus if gpu.mig)
    if not indices:
        return None
    return Difference(
        "sliced-gpu",
        f"MIG is enabled on GPU {', '.join(map(str, indices))}.",
        "Declare the memory of the slice, or disable MIG.",
        indices,
    )


def leftovers(declared: Hardware, found: Found) -> Difference | None:
    """Memory that other processes hold before the engine starts."""
    held = [gpu for gpu in found.gpus if held_bytes(gpu) > LEFTOVER]
    if not held:
        return None
    most = max(held, key=held_bytes)
    pids = sorted({process.pid for gpu in held for process in gpu.processes})
    by = f" by processes {', '.join(map(str, pids[:5]))}" if pids else ""
    return Difference(
        "leftovers",
        f"{held_bytes(most) / 2**30:.1f} GiB of GPU {most.position} are in use{by}.",
        "End them before the launch: what they hold is missing from the KV cache.",
        tuple(gpu.position for gpu in held),
        found=held_bytes(most),
    )


def held_bytes(gpu: SeenGpu) -> int:
    """Bytes in use on one GPU."""
    return gpu.used or 0


def imbalance(declared: Hardware, found: Found) -> Difference | None:
    """One GPU with less than nine tenths of another's free memory."""
    free = [(gpu.free, gpu.position) for gpu in found.gpus[: declared.count] if gpu.free is not None]
    if len(free) < 2 or min(free)[0] >= BALANCE * max(free)[0]:
        return None
    (least, index), (most, other) = min(free), max(free)
    return Difference(
        "imbalance",
        f"GPU {index} has {least / 2**30:.1f} GiB free, GPU {other} has {most / 2**30:.1f} GiB.",
        "Free the fuller one: an engine takes the least of all ranks, and SGLang may refuse to start.",
        (index, other),
        found=(least, most),
    )


def old_driver(declared: Hardware, found: Found) -> Difference | None:
    """A driver older than the declared CUDA toolkit needs."""
    toolkit, driver = version(declared.cuda), version(found.driver)
    oldest = OLDEST_DRIVER.get(toolkit[0]) if toolkit else None
    if found.vendor != "nvidia" or not driver or oldest is None or driver >= oldest:
        return None
    needed = ".".join(str(part) for part in oldest)
    return Difference(
        "driver-too-old",
        f"Driver {found.driver} is older than {needed}, the oldest that runs CUDA {toolkit[0]}.",
        f"Update the driver, or use an image with CUDA {toolkit[0] - 1}.",
        declared=declared.cuda,
        found=found.driver,
    )


def other_links(declared: Hardware, found: Found) -> Difference | None:
    """Links between GPUs other than declared."""
    if declared.interconnect is None or found.interconnect is None or declared.interconnect == found.interconnect:
        return None
    return Difference(
        "other-links",
        f"{declared.interconnect} is declared between the GPUs, {found.interconnect} was found.",
        "Correct the interconnect: it decides which all-reduce buffers exist.",
        declared=declared.interconnect,
        found=found.interconnect,
    )


def version(text: str | None) -> tuple[int, ...]:
    """ "570.86.15" as numbers; empty where it is none."""
    parts = (text or "").split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
