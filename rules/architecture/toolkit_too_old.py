"""The CUDA toolkit is older than the GPU.

## What it does
Compares the CUDA version of the machine with what the GPU's architecture needs.

## Why
Blackwell (compute capability 10.x to 12.x) needs CUDA 12.8: older builds contain no code for it, and SGLang's own
questions ("is this SM100?") answer no, so that defaults are those of an unknown GPU. Hopper's kernels need 12.3. CUDA
13 adds what FlashInfer and the newest kernels are built with; it needs a driver of its own.

## Source
sglang srt/utils/common.py `_check_cuda_device_version`, 0.4.10 to 0.5.23.
"""

from preflight.engines.sglang.facts import cuda_major
from preflight.engines.steps import WARNS, Row, State, Topic

TOPIC = Topic("VER021", "toolkit-older-than-gpu", "sglang", "init")
_NEEDS = {9: (12, 3), 10: (12, 8), 11: (12, 8), 12: (12, 8)}


def _toolkit(s: State) -> tuple[int, ...] | None:
    parts = str(s.gpu.cuda).split(".")[:2]
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else None


def _needed(s: State) -> tuple[int, int] | None:
    return _NEEDS.get(cuda_major(s))


ROWS = (
    Row(
        "V-cuda",
        WARNS,
        when=lambda s: (needed := _needed(s)) is not None and (have := _toolkit(s)) is not None and have < needed,
        says=lambda s: (
            f"CUDA {s.gpu.cuda} has no code for compute capability {cuda_major(s)}.x. Use an image with CUDA "
            f"{'.'.join(map(str, _needed(s) or ()))} or newer."
        ),
        source="srt/utils/common.py",
    ),
)
