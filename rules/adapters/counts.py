"""Adapter counts contradict each other.

## What it does
Compares `max-loras-per-batch`, `max-loaded-loras` and the number of `lora-paths`.

## Why
A batch can only use adapters that are loaded, so `max-loaded-loras` is at least `max-loras-per-batch` and at least the number
of adapters given. Overlapped loading pins adapters in host memory, so there `max-loaded-loras` is at most twice the batch's.

## Fix
Unsafe: each number is a choice.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/lora_hook.py.
"""

from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("LOR003", "lora-counts", "sglang", "checks")

_SOURCE = "srt/arg_groups/lora_hook.py"


def _adapted(s: State) -> bool:
    return bool(s.enable_lora or s.lora_paths)


ROWS = (
    Row(
        "L4",
        REFUSES,
        when=lambda s: s.max_loras_per_batch is not None and s.max_loras_per_batch <= 0,
        says="max-loras-per-batch {max_loras_per_batch} is not positive. Leave it out for the default.",
        at="max-loras-per-batch",
        fix=(Set("max-loras-per-batch", None),),
        source=_SOURCE,
        order=20,
    ),
    Row(
        "L5",
        REFUSES,
        when=lambda s: (
            s.enable_lora_overlap_loading
            and _adapted(s)
            and (s.max_loaded_loras is None or s.max_loaded_loras > 2 * s.max_loras_per_batch)
        ),
        versions="0.5.8..",
        says="enable-lora-overlap-loading needs max-loaded-loras of at most twice max-loras-per-batch ({max_loras_per_batch}); "
        "here it is {max_loaded_loras}.",
        at="enable-lora-overlap-loading",
        fix=(Set("max-loaded-loras", lambda s: 2 * s.max_loras_per_batch), Set("enable-lora-overlap-loading", None)),
        source=_SOURCE,
        order=22,
        bad="--lora-paths a=org/a --enable-lora-overlap-loading --max-loras-per-batch 4 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--max-loaded-loras 8",
    ),
    Row(
        "L4",
        REFUSES,
        when=lambda s: _adapted(s) and s.max_loaded_loras is not None and s.max_loaded_loras < s.max_loras_per_batch,
        versions="0.5.2..",
        says="max-loaded-loras {max_loaded_loras} is below max-loras-per-batch {max_loras_per_batch}. Raise it.",
        at="max-loaded-loras",
        fix=(Set("max-loaded-loras", lambda s: s.max_loras_per_batch), Set("max-loras-per-batch", lambda s: s.max_loaded_loras)),
        source=_SOURCE,
        order=32,
        bad="--lora-paths a=org/a --max-loaded-loras 2 --max-loras-per-batch 4 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--max-loaded-loras 4",
    ),
    Row(
        "L4",
        REFUSES,
        when=lambda s: bool(s.lora_paths) and s.max_loaded_loras is not None and len(s.lora_paths) > s.max_loaded_loras,
        versions="0.5.2..",
        says=lambda s: f"lora-paths names {len(s.lora_paths)} adapters, but max-loaded-loras is {s.max_loaded_loras}. Raise it.",
        at="max-loaded-loras",
        fix=(Set("max-loaded-loras", lambda s: len(s.lora_paths)),),
        source=_SOURCE,
        order=33,
    ),
    Row(
        "L8",
        REFUSES,
        when=lambda s: _adapted(s) and (s.lora_drain_wait_threshold or 0) < 0,
        versions="0.5.12..",
        says="lora-drain-wait-threshold {lora_drain_wait_threshold} is negative. Leave it out.",
        at="lora-drain-wait-threshold",
        fix=(Set("lora-drain-wait-threshold", None),),
        source=_SOURCE,
        order=36,
    ),
)
