"""Symmetric memory is asked for where it does not work, or costs memory unsaid.

## What it does
Reports enable-torch-symm-mem on GPUs and group sizes without it, enable-symm-mem off CUDA, and says what
enable-symm-mem sets aside.

## Why
Torch's symmetric memory needs multicast: compute capability 9.x or 10.x and 2, 4, 6 or 8 GPUs, else SGLang leaves it
unavailable with a warning. NCCL's (enable-symm-mem) sets NCCL_CUMEM_ENABLE=1 and NCCL_NVLS_ENABLE=1 and, since its
buffers are taken in advance, SGLANG_SYMM_MEM_PREALLOC_GB_SIZE=4: 4 GiB of each GPU that mem-fraction-static does not
know of.

## Source
sglang srt/distributed/device_communicators/torch_symm_mem.py; srt/server_args.py `_handle_gpu_memory_settings`, 0.5.9
to 0.5.18; srt/arg_groups/memory_hook.py and platform_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.sglang.facts import cuda_major, on_amd, on_cuda
from preflight.engines.steps import SETS, WARNS, Row, Set, Topic

TOPIC = Topic("COM002", "symmetric-memory", "sglang", "gpu-memory")
_PREALLOC = "SGLANG_SYMM_MEM_PREALLOC_GB_SIZE"

ROWS = (
    Row(
        "M7",
        WARNS,
        when=lambda s: s.enable_symm_mem and s.env(_PREALLOC) is None,
        versions="0.5.9..",
        says="enable-symm-mem takes 4 GiB of each GPU in advance, outside mem-fraction-static. Set "
        + _PREALLOC
        + " to what is needed.",
        at="enable-symm-mem",
        source="srt/server_args.py _handle_gpu_memory_settings",
        bad="--tp-size 8 --enable-symm-mem @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--tp-size 8 --enable-symm-mem @ 0.5.9 8x-h100-80 llama-3.1-8b SGLANG_SYMM_MEM_PREALLOC_GB_SIZE=2",
        order=90,
    ),
    Row(
        "R11",
        SETS,
        when=lambda s: s.enable_symm_mem and not on_cuda(s) and not on_amd(s),
        versions="0.5.20..",
        sets="enable-symm-mem",
        value=False,
        says="enable-symm-mem works on CUDA and ROCm only and is dropped here.",
        fix=(Set("enable-symm-mem", None),),
        source="srt/arg_groups/platform_hook.py handle_symm_mem_device_support",
        step="device",
    ),
    Row(
        "R10",
        WARNS,
        when=lambda s: s.enable_torch_symm_mem and (cuda_major(s) not in (9, 10) or s.tp_size not in (2, 4, 6, 8)),
        says="enable-torch-symm-mem needs compute capability 9.x or 10.x and 2, 4, 6 or 8 GPUs; here it stays off. Take it out.",
        at="enable-torch-symm-mem",
        fix=(Set("enable-torch-symm-mem", None),),
        source="srt/distributed/device_communicators/torch_symm_mem.py",
        bad="--tp-size 8 --enable-torch-symm-mem @ 0.5.9 8x-rtx-pro-6000-blackwell llama-3.1-8b",
        good="--no:enable-torch-symm-mem",
        step="init",
    ),
)
