"""LoRA is on, but nothing says how large adapters are.

## What it does
Finds `enable-lora` without `lora-paths` and without both `max-lora-rank` and `lora-target-modules`.

## Why
SGLang allocates buffers for adapters when it starts. Their shape comes from the adapters that `lora-paths` names; without
any, the largest rank and the modules have to be given, or adapters could not be loaded later.

## Fix
Unsafe: rank and modules have to fit the adapters to come.

## Source
sglang 0.4.10 srt/server_args.py; 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("LOR001", "lora-without-shape", "sglang", "checks")


def _shapeless(s: State) -> bool:
    return bool(s.enable_lora) and not s.lora_paths and not (s.max_lora_rank and s.lora_target_modules)


ROWS = (
    Row(
        "L2",
        REFUSES,
        when=_shapeless,
        versions="0.4.10..",
        says="enable-lora without lora-paths needs both max-lora-rank and lora-target-modules. Give them, or an adapter.",
        at="enable-lora",
        fix=(
            Set("max-lora-rank", 64),
            Set("lora-target-modules", ("all",)),
            Set("enable-lora", None),
        ),
        source="srt/arg_groups/lora_hook.py",
        order=30,
        bad="--enable-lora @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--max-lora-rank 64 --lora-target-modules q_proj v_proj",
    ),
)
