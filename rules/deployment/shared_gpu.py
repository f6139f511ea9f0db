"""Two servers on one GPU want more than all of its memory.

## What it does
Looks for launches of one file that run at the same time on the same GPU, and adds up their memory fractions. A branch, a
function or a compose profile need not run with the rest and is left out. `count: N` of a compose service takes the first N GPUs
of the machine, in every service.

## Why
A memory fraction is no partition. It says how far one server may go, measured when it starts: vLLM refuses to start where less
is free than its share of the whole GPU, and SGLang takes its share of whatever the other one has left.

## Example
```yaml bad
services:
  chat:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-8B, --gpu-memory-utilization, "0.9"]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, device_ids: ["0"], capabilities: [gpu] }] } } }
  embed:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-Embedding-0.6B, --gpu-memory-utilization, "0.2"]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, device_ids: ["0"], capabilities: [gpu] }] } } }
```
```yaml good
services:
  chat:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-8B, --gpu-memory-utilization, "0.7"]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, device_ids: ["0"], capabilities: [gpu] }] } } }
  embed:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-Embedding-0.6B, --gpu-memory-utilization, "0.2"]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, device_ids: ["0"], capabilities: [gpu] }] } } }
```

## Fix
None: who gets how much is a decision.

## Source
vLLM 0.33.0 vllm/v1/worker/utils.py (`request_memory`); sglang 0.5.9 srt/model_executor/model_runner_kv_cache_mixin.py. Docker
turns a count into the first numbers: moby daemon/nvidia_linux.go.
"""

from collections.abc import Iterator
from itertools import combinations

from preflight.deployment import gpu_numbers
from preflight.diagnostics import WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.lint import Project
from preflight.rule import rule

META = Rule("PAR053", "shared-gpu", WARNING)


@rule(META)
def check(project: Project) -> Iterator[Finding]:
    launches = [(one.launch, numbers) for one in project.launches if (numbers := gpu_numbers(one.launch))]
    for (first, mine), (second, others) in combinations(launches, 2):
        shared = [number for number in mine if number in others]
        if shared and first.site.around.stays and _other_command(first, second):
            yield from _finding(first, second, shared)


def _other_command(first: Launch, second: Launch) -> bool:
    """The same command twice is one launch, seen in two places."""
    return first.head != second.head


def _finding(first: Launch, second: Launch, shared: list[str]) -> Iterator[Finding]:
    fractions = [_fraction(launch) for launch in (first, second)]
    if any(fraction is None for fraction in fractions):
        return
    total = sum(fraction or 0 for fraction in fractions)
    if total <= 1:
        return
    which = f"GPU {shared[0]}" if len(shared) == 1 else f"GPUs {', '.join(shared)}"
    yield Finding(
        f"Two servers run on {which} at once, and their memory fractions {fractions[0]:g} and {fractions[1]:g} add up to "
        f"{total:g}: a fraction is no partition, and the one that starts last finds too little. Lower them to less than 1 in "
        "all, or use another GPU.",
        second.place(second.engine.knob),
        related=(Related(first.place(first.engine.knob), "the other server"),),
        data={"gpus": shared, "fractions": fractions},
    )


def _fraction(launch: Launch) -> float | None:
    use = launch.use(launch.engine.knob)
    value = launch.known(launch.engine.knob) if use is not None else None
    return float(value) if isinstance(value, int | float) and 0 < value <= 1 else None
