"""Reading this machine: NVML where its Python binding is installed, else nvidia-smi or rocm-smi."""

import shutil
import subprocess
from typing import Any

from preflight.hardware.found import BadOutput, Found, Process, SeenGpu
from preflight.hardware.nvidia_smi import read_nvidia_smi
from preflight.hardware.rocm_smi import read_rocm_smi

TIMEOUT_S = 30


def read_text(text: str) -> Found:
    """Saved output of nvidia-smi or rocm-smi. Raises BadOutput."""
    amd = "ROCm" in text or "VRAM Total" in text or '"card0"' in text
    return read_rocm_smi(text) if amd else read_nvidia_smi(text)


def read_machine() -> Found:
    """This machine. Raises BadOutput where there is nothing to read."""
    found = through_nvml()
    if found is not None:
        return found
    if shutil.which("nvidia-smi"):
        return read_nvidia_smi(run(["nvidia-smi"]) + "\n" + run(["nvidia-smi", "topo", "-m"]))
    if shutil.which("rocm-smi"):
        return read_rocm_smi(run(["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json"]))
    raise BadOutput("This machine has neither nvidia-smi nor rocm-smi. Save their output where they are and give it with --from.")


def run(command: list[str]) -> str:
    """A tool's standard output; empty where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def through_nvml() -> Found | None:
    """This machine through NVML; None where the binding or the library is missing."""
    try:
        import pynvml as nvml

        nvml.nvmlInit()
    except Exception:  # a missing binding, library or driver all mean the same here
        return None
    try:
        gpus = tuple(nvml_gpu(nvml, index) for index in range(nvml.nvmlDeviceGetCount()))
        version = nvml.nvmlSystemGetCudaDriverVersion_v2()
        driver = as_text(nvml.nvmlSystemGetDriverVersion())
        return Found(gpus, "nvidia", driver, f"{version // 1000}.{version % 1000 // 10}", nvml_links(nvml, len(gpus)), "NVML")
    except nvml.NVMLError:
        return None
    finally:
        nvml.nvmlShutdown()


def as_text(value: object) -> str:
    """NVML gives bytes or text by version."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def nvml_gpu(nvml: object, index: int) -> SeenGpu:
    """One GPU through NVML."""
    call = Calls(nvml)
    handle = call("nvmlDeviceGetHandleByIndex", index)
    memory = call("nvmlDeviceGetMemoryInfo", handle)
    capability = call.optional("nvmlDeviceGetCudaComputeCapability", handle)
    mig = call.optional("nvmlDeviceGetMigMode", handle)
    processes = call.optional("nvmlDeviceGetComputeRunningProcesses", handle) or ()
    return SeenGpu(
        index,
        as_text(call("nvmlDeviceGetName", handle)),
        int(memory.total),
        int(memory.used),
        int(memory.free),
        compute_capability=(int(capability[0]), int(capability[1])) if capability else None,
        mig=bool(mig[0]) if mig else None,
        processes=tuple(Process(int(one.pid), "", one.usedGpuMemory) for one in processes),
    )


def nvml_links(nvml: object, count: int) -> str | None:
    """Whether every GPU, some, or none has an active NVLink."""
    call = Calls(nvml)
    if count < 2:
        return None
    active = []
    for index in range(count):
        handle = call("nvmlDeviceGetHandleByIndex", index)
        links = [call.optional("nvmlDeviceGetNvLinkState", handle, link) for link in range(18)]
        active.append(sum(1 for state in links if state))
    if not any(active):
        return "pcie"
    return "nvlink" if all(links >= 4 for links in active) else "nvlink-pairs"


class Calls:
    """NVML's functions by name; the binding has no types."""

    def __init__(self, nvml: object) -> None:
        self.nvml = nvml

    def __call__(self, name: str, *arguments: object) -> Any:
        return getattr(self.nvml, name)(*arguments)

    def optional(self, name: str, *arguments: object) -> Any:
        """None where this GPU does not support the query."""
        try:
            return self(name, *arguments)
        except Exception:  # NVMLError_NotSupported, or an older binding without the function
            return None
