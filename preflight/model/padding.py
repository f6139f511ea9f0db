"""What expert kernels add to 4-bit weights when they lay them out: extents rounded up on each rank.

Sources: vLLM 0.11.0 and 0.33.0 model_executor/layers/quantization/{mxfp4,modelopt}.py; SGLang 0.5.9
srt/layers/quantization/mxfp4.py. Checked on public boots: gpt-oss-120b takes 64.38 GiB on one H100 and 17.22 GiB per
GPU over four A100s, where the checkpoint has 60.77 and 15.21.
"""

from preflight.model.types import Component


def alignment(component: Component, engine: str, compute_capability: tuple[int, int] | None) -> tuple[int, int]:
    """(intermediate, hidden) extents' multiples on one rank; 1 where nothing is rounded."""
    if component.format == "nvfp4" and not component.gated and engine == "vllm":
        return 128, 1
    if component.format != "mxfp4" or compute_capability is None:
        return 1, 1
    major = compute_capability[0]
    if major == 10:
        return 256, 256
    if major == 9:
        return 64, 256
    return 128, 256


def padded_elements(
    component: Component, elements: int, ranks: int, engine: str, compute_capability: tuple[int, int] | None
) -> int:
    """Elements after rounding, of `elements` that one rank holds of whole experts divided over `ranks`."""
    if component.shard != "experts" or not component.inner or not component.outer:
        return elements
    by_inner, by_outer = alignment(component, engine, compute_capability)
    inner, outer = -(-component.inner // max(1, ranks)), component.outer
    rounded = -(-inner // by_inner) * by_inner * (-(-outer // by_outer) * by_outer)
    return -(-elements * rounded // (inner * outer))
