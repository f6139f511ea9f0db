"""The GPU's architecture does not run a kernel or format of the launch.

## What it does
Checks compute capability against SGLang's own floor, the weight format, and fa3.

## Why
Argument code accepts these; the model runner or the loader dies after the processes have started. SGLang starts from
compute capability 7.5 (T4) on. Each weight format has a floor: 8.0 for FP8 and MXFP4, 8.9 for ModelOpt FP8, 9.0 for
W4AFP8, 10.0 for NVFP4 up to 0.5.12 (8.0 later, through Marlin). fa3 runs on 8.x and 9.x, for MLA models on 9.x alone:
Blackwell has no fa3, and SM120 (RTX PRO 6000, RTX 50) is not SM100 (B200).

## Source
sglang srt/model_executor/model_runner.py `load_model`; srt/model_loader/loader.py with `get_min_capability` of
srt/layers/quantization; srt/layers/attention/attention_registry.py, 0.4.6.post5 to 0.5.23.
"""

from preflight.engines.sglang.facts import at_least, attention_backends, is_mla, on_cuda, sm
from preflight.engines.steps import DIES, Row, Set, State, Topic

TOPIC = Topic("VER020", "gpu-architecture-too-old", "sglang", "load")
_FLOORS = {"fp8": 80, "modelopt_fp8": 89, "modelopt_fp4": 100, "mxfp4": 80, "w4afp8": 90, "w8a8_fp8": 89, "mxfp8": 100}


def _method(s: State) -> str | None:
    """How the weights are quantized: by flag, else by the checkpoint."""
    given = s.quantization
    return str(given) if given not in (None, "unquant") else s.model.known("quantization") if s.model.architecture else None


def _floor(s: State) -> int | None:
    name = _method(s)
    if name == "modelopt_fp4" and at_least(s, "0.5.15"):
        return 80
    return _FLOORS.get(str(name))


def _dotted(number: int | None) -> str:
    return f"{(number or 0) / 10:.1f}"


def _fa3(s: State) -> bool:
    if "fa3" not in attention_backends(s):
        return False
    major = sm(s) // 10
    return major != 9 and (major != 8 or is_mla(s))


ROWS = (
    Row(
        "A32",
        DIES,
        when=lambda s: on_cuda(s) and sm(s) < 75,
        says="SGLang needs compute capability 7.5 or above; this GPU has {gpu__compute_capability}. Use a T4 or newer.",
        stage="load",
        source="srt/model_executor/model_runner.py",
    ),
    Row(
        "A32-format",
        DIES,
        when=lambda s: on_cuda(s) and (floor := _floor(s)) is not None and 75 <= sm(s) < floor,
        says=lambda s: (
            f"{_method(s)} weights need compute capability {_dotted(_floor(s))} in this release; this GPU has {_dotted(sm(s))}. "
            "Use another format of the model, or a newer GPU."
        ),
        at="quantization",
        stage="load",
        source="srt/model_loader/loader.py",
        bad="--tp-size 8 @ 0.5.9 8x-h200 qwen3-235b-a22b-nvfp4",
        good="--tp-size 8 @ 0.5.9 8x-b200 qwen3-235b-a22b-nvfp4",
    ),
    Row(
        "A32-fa3",
        DIES,
        when=lambda s: on_cuda(s) and _fa3(s),
        says=lambda s: (
            f"fa3 runs on compute capability 8.x and 9.x (MLA models: 9.x); this GPU has {_dotted(sm(s))}. Use flashinfer, or "
            "triton for MLA models."
        ),
        at="attention-backend",
        fix=(Set("attention-backend", lambda s: "triton" if is_mla(s) else "flashinfer"),),
        stage="init",
        source="srt/layers/attention/attention_registry.py",
        bad="--tp-size 8 --attention-backend fa3 @ 0.5.9 8x-rtx-pro-6000-blackwell llama-3.1-8b",
        good="--attention-backend flashinfer",
        step="init",
    ),
)
