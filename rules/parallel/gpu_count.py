"""There are fewer GPUs than ranks.

## What it does
Compares tp-size × pp-size over the nodes, in steps of gpu-id-step from base-gpu-id, with the GPUs of a node and with
CUDA_VISIBLE_DEVICES.

## Why
Every rank takes a GPU of its own. Where there are too few, the rank that asks for one beyond the last dies with
"invalid device ordinal", after the others have started.

## Source
sglang srt/entrypoints/engine.py (`gpu_id` of each rank), 0.4.6.post5 to 0.5.23.
"""

from preflight.engines.sglang.facts import at_least, on_cuda, ranks
from preflight.engines.steps import DIES, Row, Set, State, Topic

TOPIC = Topic("PAR022", "fewer-gpus-than-ranks", "sglang", "init")


def _needed(s: State) -> int:
    """The GPUs that a node must have."""
    here = max(1, ranks(s) // max(1, int(s.nnodes)))
    replicas = 1 if s.enable_dp_attention or (at_least(s, "0.5.23") and s.attn_dp_size > 1) else int(s.dp_size)
    return int(s.base_gpu_id or 0) + (here * replicas - 1) * int(s.gpu_id_step) + 1


def _visible(s: State) -> int | None:
    devices = s.env("CUDA_VISIBLE_DEVICES")
    return None if not devices else len([name for name in devices.split(",") if name.strip()])


ROWS = (
    Row(
        "P-count",
        DIES,
        when=lambda s: on_cuda(s) and not s.use_ray and _needed(s) > s.gpu.count,
        says=lambda s: (
            f"tp-size {s.tp_size} × pp-size {s.pp_size} needs {_needed(s)} GPUs on each of {s.nnodes} nodes; there are "
            f"{s.gpu.count}. "
            "Lower tp-size, or use more GPUs."
        ),
        at="tp-size",
        stage="init",
        source="srt/entrypoints/engine.py",
        bad="--tp-size 8 @ 0.5.9 4x-h100-80 llama-3.1-8b",
        good="--tp-size 4",
    ),
    Row(
        "P-visible",
        DIES,
        when=lambda s: on_cuda(s) and not s.use_ray and (count := _visible(s)) is not None and _needed(s) > count,
        says=lambda s: (
            f"tp-size {s.tp_size} × pp-size {s.pp_size} needs {_needed(s)} GPUs, and CUDA_VISIBLE_DEVICES shows "
            f"{_visible(s)}. Show more."
        ),
        at="tp-size",
        fix=(Set("tp-size", _visible),),
        stage="init",
        source="srt/entrypoints/engine.py",
        bad="--tp-size 4 @ 0.5.9 8x-h100-80 llama-3.1-8b CUDA_VISIBLE_DEVICES=0,1",
        good="--tp-size 2",
    ),
)
