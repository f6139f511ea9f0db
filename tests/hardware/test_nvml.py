"""Reading through NVML, with a binding that answers like a machine of two boards."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from preflight.hardware.found import Process
from preflight.hardware.live import read_machine

GIB = 1 << 30


class NVMLError(Exception):
    pass


def unsupported(*_: object) -> None:
    raise NVMLError


def binding(links: bool) -> ModuleType:
    module = ModuleType("pynvml")
    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 12080,
        "nvmlSystemGetDriverVersion": lambda: b"570.86.15",
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=80 * GIB, used=handle * GIB, free=(80 - handle) * GIB),
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0),
        "nvmlDeviceGetMigMode": unsupported,
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=7, usedGpuMemory=GIB)] if handle else [],
        "nvmlDeviceGetName": lambda handle: "NVIDIA H100 80GB HBM3",
        "nvmlDeviceGetNvLinkState": (lambda handle, link: 1) if links else unsupported,
        "NVMLError": NVMLError,
    }
    vars(module).update(answers)
    return module


@pytest.mark.parametrize(("links", "interconnect"), [(True, "nvlink"), (False, "pcie")])
def test_a_machine_through_nvml(links: bool, interconnect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", binding(links))
    found = read_machine()
    assert (found.driver, found.cuda, found.interconnect, found.source) == ("570.86.15", "12.8", interconnect, "NVML")
    assert [gpu.free for gpu in found.gpus] == [80 * GIB, 79 * GIB]
    assert found.gpus[1].processes == (Process(7, "", GIB),)
    assert found.gpus[0].mig is None
