"""The launch is given GPUs that it does not use.

## What it does
Says, as a note, that a container asks for more GPUs than its launch has ranks.

## Why
A GPU that a container holds is nobody else's. More often than a waste this is a parallel size that was meant to be larger.

## Example
A pod with a limit of 8 GPUs and `--tp-size 4`.

## Fix
None: fewer GPUs or more ranks is a decision.

## Source
sglang 0.5.9 srt/entrypoints/engine.py; vLLM 0.33.0 vllm/config/parallel.py.
"""

from collections.abc import Iterator

from preflight.deployment import gpus_per_node, ranks_in_words
from preflight.diagnostics import NOTE, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("PAR052", "idle-gpus", NOTE)
_CONTAINERS = ("kubernetes", "compose")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    spread, gpus = launch.spread, gpus_per_node(launch)
    if launch.site.kind not in _CONTAINERS or spread.needs is None or gpus is None or not gpus.value.proven:
        return
    if spread.needs < gpus.value.each:
        yield Finding(
            f"{ranks_in_words(launch, spread)} uses {spread.needs} of the {gpus.value.each} GPUs that the container holds. Ask "
            "for fewer, or raise the parallel sizes.",
            gpus.place,
            data={"needed": spread.needs, "gpus": gpus.value.each},
        )
