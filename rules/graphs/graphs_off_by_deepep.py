"""DeepEP in normal mode runs without CUDA graphs.

## What it does
Reports moe-a2a-backend deepep with deepep-mode normal.

## Why
The exchange of normal mode has sizes that are known on the CPU only, which a CUDA graph cannot capture, so SGLang
disables the graphs. Mode auto uses normal for prefill and low_latency, which is captured, for decode. The automatic
memory fraction still reserves for the graphs.

## Source
sglang srt/server_args.py `_handle_a2a_moe`, 0.5.2 to 0.5.18 (older: enable-deepep-moe); srt/arg_groups/moe_hook.py,
0.5.20 and 0.5.23.
"""

from preflight.diagnostics import WARNING
from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import SETS, Row, Set, State, Topic

TOPIC = Topic("GRF003", "deepep-normal-without-graphs", "sglang", "a2a")


def _normal(s: State) -> bool:
    if s.deepep_mode != "normal":
        return False
    return bool(s.moe_a2a_backend == "deepep" or (not at_least(s, "0.5.2") and s.enable_deepep_moe))


_SAYS = (
    "deepep-mode normal turns CUDA graphs off, for decode too. Use auto, which decodes with the low-latency kernels, except "
    "on a prefill "
    "server."
)

ROWS = (
    Row(
        "G4",
        SETS,
        when=_normal,
        versions="..0.5.12",
        sets="disable-cuda-graph",
        value=True,
        says=_SAYS,
        at="deepep-mode",
        fix=(Set("deepep-mode", "auto"),),
        source="srt/server_args.py _handle_a2a_moe",
        bad="--tp-size 8 --moe-a2a-backend deepep --deepep-mode normal @ 0.5.9 8x-h200 deepseek-v3",
        good="--deepep-mode auto",
        order=40,
        severity=WARNING,
    ),
    Row(
        "G4-phases",
        SETS,
        when=_normal,
        versions="0.5.15..",
        sets=("cuda-graph-backend-decode", "cuda-graph-backend-prefill"),
        value=("disabled", "disabled"),
        says=_SAYS,
        at="deepep-mode",
        fix=(Set("deepep-mode", "auto"),),
        source="srt/arg_groups/moe_hook.py handle_a2a_moe",
        bad="--tp-size 8 --moe-a2a-backend deepep --deepep-mode normal @ 0.5.23 8x-h200 deepseek-v3",
        good="--deepep-mode auto",
        order=40,
        severity=WARNING,
    ),
)
