"""All target modules and others at once.

## What it does
Finds `lora-target-modules` that name `all` beside others, and modules that the backend drops from `all`.

## Why
`all` stands for every module that can carry an adapter and must stand alone. Up to 0.5.9 the csgmv backend cannot adapt
embeddings and the vocabulary head, and drops them from `all` with a warning.

## Fix
Unsafe: name what the adapters adapt.

## Source
sglang 0.4.10 and 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("LOR004", "lora-target-modules", "sglang", "checks")


def _all(s: State) -> bool:
    return bool(s.enable_lora or s.lora_paths) and "all" in (s.lora_target_modules or ())


ROWS = (
    Row(
        "L6",
        REFUSES,
        when=lambda s: _all(s) and len(set(s.lora_target_modules)) > 1,
        versions="0.4.10..",
        says="lora-target-modules names all beside others. Name all alone, or leave it out.",
        at="lora-target-modules",
        fix=(Set("lora-target-modules", None),),
        source="srt/arg_groups/lora_hook.py",
        order=26,
        bad="--lora-paths a=org/a --lora-target-modules all q_proj @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--lora-target-modules q_proj",
    ),
    Row(
        "L6",
        WARNS,
        when=lambda s: _all(s) and len(set(s.lora_target_modules)) == 1 and s.lora_backend == "csgmv",
        versions="0.5.5..0.5.9",
        says="lora-backend csgmv drops embed_tokens and lm_head from the target modules. Use triton if adapters adapt them.",
        at="lora-target-modules",
        fix=(Set("lora-backend", "triton"),),
        source="srt/server_args.py",
        order=27,
    ),
)
