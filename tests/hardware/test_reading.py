"""Reading what nvidia-smi and rocm-smi print."""

import pytest

from preflight.hardware.found import BadOutput
from preflight.hardware.live import read_text

MIB = 1 << 20
TABLE = """\
Mon Nov 30 01:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   35C    P0             72W /  700W |   20557MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   33C    P0             70W /  700W |       4MiB /  81559MiB |      0%      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A         1234567      C   /usr/bin/python3                      20550MiB |
+-----------------------------------------------------------------------------------------+
"""
TOPOLOGY = """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\t0-51\t0\t\tN/A
GPU1\tNV18\t X \t0-51\t0\t\tN/A
"""
CSV = """\
index, name, memory.total [MiB], memory.used [MiB], memory.free [MiB], driver_version, compute_cap
0, NVIDIA L4, 23034 MiB, 1 MiB, 22563 MiB, 550.54.15, 8.9
1, NVIDIA L4, 23034 MiB, 1 MiB, 22563 MiB, 550.54.15, 8.9
"""
ROCM_TEXT = """\
============================ ROCm System Management Interface ============================
GPU[0]\t\t: VRAM Total Memory (B): 206141718528
GPU[0]\t\t: VRAM Total Used Memory (B): 297156608
GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X OAM
GPU[1]\t\t: VRAM Total Memory (B): 206141718528
GPU[1]\t\t: VRAM Total Used Memory (B): 297156608
"""
ROCM_JSON = (
    '{"card0": {"VRAM Total Memory (B)": "206141718528", "VRAM Total Used Memory (B)": "297156608",'
    ' "Card Series": "AMD Instinct MI300X OAM"}}'
)


def test_the_table_of_nvidia_smi() -> None:
    found = read_text(TABLE + TOPOLOGY)
    assert (found.driver, found.cuda, found.interconnect) == ("570.86.15", "12.8", "nvlink")
    first, second = found.gpus
    assert (first.name, first.memory, first.used) == ("NVIDIA H100 80GB HBM3", 81559 * MIB, 20557 * MIB)
    assert [(one.pid, one.name, one.memory) for one in first.processes] == [(1234567, "/usr/bin/python3", 20550 * MIB)]
    assert (first.mig, second.mig) == (False, True)


def test_a_csv_query() -> None:
    found = read_text(CSV)
    assert found.driver == "550.54.15"
    assert [(gpu.name, gpu.memory, gpu.free, gpu.compute_capability) for gpu in found.gpus] == [
        ("NVIDIA L4", 23034 * MIB, 22563 * MIB, (8, 9))
    ] * 2


@pytest.mark.parametrize(("cell", "links"), [("NV18", "nvlink"), ("PHB", "pcie"), ("SYS", "pcie")])
def test_links_from_the_topology(cell: str, links: str) -> None:
    assert read_text(TABLE + TOPOLOGY.replace("NV18", cell)).interconnect == links


def test_pairs_of_links() -> None:
    rows = ["\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity"]
    pairs = {0: 1, 1: 0, 2: 3, 3: 2}
    for row in range(4):
        cells = [" X " if row == column else "NV12" if pairs[row] == column else "SYS" for column in range(4)]
        rows.append("\t".join([f"GPU{row}", *cells, "0-31"]))
    assert read_text(TABLE + "\n".join(rows)).interconnect == "nvlink-pairs"


@pytest.mark.parametrize("text", [ROCM_TEXT, ROCM_JSON])
def test_rocm_smi(text: str) -> None:
    found = read_text(text)
    assert found.vendor == "amd"
    assert (found.gpus[0].memory, found.gpus[0].used) == (206141718528, 297156608)
    assert found.gpus[0].name == "AMD Instinct MI300X OAM"


@pytest.mark.parametrize("text", ["", "no devices were found", "{" * 50_000, "card0", "\x00" * 100, '{"card0": []}'])
def test_other_text_gives_one_clear_error(text: str) -> None:
    with pytest.raises(BadOutput, match="No GPU is in this text"):
        read_text(text)
