"""The custom all-reduce turns itself off.

## What it does
Says where options for SGLang's own all-reduce do nothing, as NCCL does the work.

## Why
The kernel exchanges small messages through peer memory, for 2, 4, 6 or 8 GPUs of one node. Above two GPUs it needs
NVLink between all of them: over PCIe it is off, in the worst case after a probe of every pair. That costs latency at
small batches, no memory and no failure; NCCL serves all sizes. `--disable-custom-all-reduce` says the same without
the probe.

Custom all-reduce is innocent of "Not enough memory": its buffers, some 24 MiB a GPU, are taken before free memory is
measured.

CUDA_VISIBLE_DEVICES with UUIDs or MIG names makes its set-up fail (it expects integers); the exception is caught and
the kernel stays off.

## Source
sglang srt/distributed/device_communicators/custom_all_reduce.py, 0.4.6.post5 to 0.5.23; memory: facts of
srt/model_executor/model_runner.py.
"""

from preflight.diagnostics import NOTE
from preflight.engines.sglang.facts import on_cuda
from preflight.engines.steps import WARNS, Row, Set, State, Topic

TOPIC = Topic("COM001", "custom-all-reduce-off", "sglang", "init")
_SOURCE = "srt/distributed/device_communicators/custom_all_reduce.py"


def _world(s: State) -> int:
    """GPUs that reduce together."""
    return int(s.tp_size)


def _asked(s: State) -> bool:
    return not s.disable_custom_all_reduce and on_cuda(s) and _world(s) > 1 and s.nnodes == 1


def _names(s: State) -> str | None:
    """Visible devices by UUID or MIG name."""
    devices = s.env("CUDA_VISIBLE_DEVICES")
    if not devices:
        return None
    return next((name for name in devices.split(",") if name.strip().upper().startswith(("GPU-", "MIG-"))), None)


ROWS = (
    Row(
        "R2",
        WARNS,
        when=lambda s: _asked(s) and _world(s) not in (2, 4, 6, 8),
        says="Custom all-reduce works for 2, 4, 6 or 8 GPUs; with tp-size {tp_size} NCCL does the work.",
        at="tp-size",
        fix=(Set("disable-custom-all-reduce", True),),
        source=_SOURCE,
        bad="--tp-size 3 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--tp-size 4",
        severity=NOTE,
    ),
    Row(
        "R3",
        WARNS,
        when=lambda s: (
            bool(s.enable_p2p_check)
            and _asked(s)
            and _world(s) > 2
            and s.gpu.interconnect == "pcie"
            and not s.flag("SGLANG_ENABLE_PCIE_IPC_ALLREDUCE")
        ),
        says="enable-p2p-check probes every pair of GPUs for custom all-reduce, which stays off over PCIe with {tp_size} "
        "GPUs. Take it out.",
        at="enable-p2p-check",
        fix=(Set("enable-p2p-check", None),),
        source=_SOURCE,
        bad="--tp-size 8 --enable-p2p-check @ 0.5.9 8x-rtx-pro-6000-blackwell llama-3.1-8b",
        good="--no:enable-p2p-check",
    ),
    Row(
        "R6",
        WARNS,
        when=lambda s: _asked(s) and _names(s) is not None,
        says=lambda s: (
            f"CUDA_VISIBLE_DEVICES names {_names(s)}: custom all-reduce reads integers only and stays off. Use device numbers."
        ),
        at="disable-custom-all-reduce",
        source=_SOURCE,
        bad="--tp-size 2 @ 0.5.9 8x-h100-80 llama-3.1-8b CUDA_VISIBLE_DEVICES=GPU-8a56,GPU-9b21",
        good="--disable-custom-all-reduce",
    ),
)
