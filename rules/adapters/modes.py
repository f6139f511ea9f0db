"""The LoRA backend does not work in this mode, or LoRA was not switched on.

## What it does
Finds `lora-backend triton_v2` in modes that it does not support, and `lora-paths` without `enable-lora`.

## Why
Before 0.5 cached prefixes knew no adapters, so LoRA refuses the radix cache there. The second generation of LoRA kernels does
not work with DP attention, PD multiplexing or two-batch overlap and is refused there. `lora-paths` alone switches LoRA on;
SGLang says so in its log.

## Fix
Safe for the flag that SGLang adds itself.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.engines.sglang.facts import dp_attention
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("LOR005", "lora-mode", "sglang", "checks")


def _mode(s: State) -> str | None:
    if s.lora_backend != "triton_v2" or not (s.enable_lora or s.lora_paths) or str(s.moe_runner_backend).startswith("lora"):
        return None
    if dp_attention(s):
        return "DP attention"
    return next((flag for flag in ("enable-pdmux", "enable-two-batch-overlap") if s.get(flag)), None)


ROWS = (
    Row(
        "L1",
        SETS,
        when=lambda s: bool(s.lora_paths) and s.enable_lora is None,
        versions="0.4.10..",
        sets="enable-lora",
        value=True,
        says="lora-paths switches LoRA on.",
        source="srt/arg_groups/lora_hook.py",
        order=19,
    ),
    Row(
        "L4-radix",
        REFUSES,
        when=lambda s: s.lora_paths is not None and not s.disable_radix_cache,
        versions="..0.4.10",
        says="Before SGLang 0.5 adapters need disable-radix-cache. Add it.",
        at="lora-paths",
        fix=(Set("disable-radix-cache", True),),
        source="srt/server_args.py",
        order=18,
        bad="--lora-paths a=org/a @ 0.4.10 8x-h100-80 llama-3.1-8b",
        good="--disable-radix-cache",
    ),
    Row(
        "L9",
        REFUSES,
        when=lambda s: _mode(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"lora-backend triton_v2 does not work with {_mode(s)}. Use csgmv.",
        at="lora-backend",
        fix=(Set("lora-backend", None),),
        source="srt/arg_groups/lora_hook.py",
        order=21,
        bad="--lora-paths a=org/a --lora-backend triton_v2 --attn-dp-size 8 --tp-size 8 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:lora-backend",
    ),
)
