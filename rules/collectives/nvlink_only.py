"""A collective that needs NVLink is asked for over PCIe.

## What it does
Reports FlashInfer's all-reduce fusion, NVLS and MSCCL++ on machines without it.

## Why
FlashInfer fuses all-reduce and norm on compute capability 9.x and 10.x, through NVLink peer memory; elsewhere its
workspace is not set up and SGLang falls back with a warning. NVLS reduces inside an NVSwitch. Where GPUs talk over
PCIe these flags do nothing but mislead.

SGLang turns the fusion on by itself for the models that it was tested with, on such GPUs, with tensor parallelism on
one node and without DP attention or an expert all-to-all.

## Source
sglang srt/layers/flashinfer_comm_fusion.py, srt/server_args.py model-specific handler (0.5.15:
srt/arg_groups/overrides.py `_flashinfer_allreduce_fusion_auto_enable`), srt/distributed/parallel_state.py.
"""

from preflight.engines.sglang.facts import at_least, cuda_major
from preflight.engines.steps import WARNS, Row, Set, State, Topic

TOPIC = Topic("COM003", "nvlink-only-collective", "sglang", "init")


def _fused(s: State) -> str | None:
    """The flag that asks for the fusion."""
    if at_least(s, "0.5.15") and s.given("flashinfer-allreduce-fusion-backend"):
        return "flashinfer-allreduce-fusion-backend"
    return "enable-flashinfer-allreduce-fusion" if s.given("enable-flashinfer-allreduce-fusion") else None


def _instead(s: State) -> str:
    major, minor = s.gpu.compute_capability
    return f"{major}.{minor}"


ROWS = (
    Row(
        "R8",
        WARNS,
        when=lambda s: _fused(s) is not None and cuda_major(s) not in (9, 10),
        says=lambda s: (
            f"{_fused(s)} needs compute capability 9.x or 10.x; on {_instead(s)} the fusion is not set up. Take it out."
        ),
        at="enable-flashinfer-allreduce-fusion",
        fix=(Set("enable-flashinfer-allreduce-fusion", None), Set("flashinfer-allreduce-fusion-backend", None)),
        source="srt/layers/flashinfer_comm_fusion.py",
        bad="--tp-size 8 --enable-flashinfer-allreduce-fusion @ 0.5.9 8x-rtx-pro-6000-blackwell llama-3.1-8b",
        good="--no:enable-flashinfer-allreduce-fusion",
    ),
    Row(
        "R13",
        WARNS,
        when=lambda s: s.enable_nccl_nvls and s.gpu.interconnect == "pcie",
        says="enable-nccl-nvls reduces inside an NVSwitch; these GPUs talk over PCIe. Take it out.",
        at="enable-nccl-nvls",
        fix=(Set("enable-nccl-nvls", None),),
        source="srt/entrypoints/engine.py",
        bad="--tp-size 8 --enable-nccl-nvls @ 0.5.9 8x-rtx-pro-6000-blackwell llama-3.1-8b",
        good="--no:enable-nccl-nvls",
    ),
)
