"""The launch needs more GPUs than it gets.

## What it does
Multiplies the parallel sizes of a launch, divides by its nodes, and compares the result with the GPUs that the file gives to
each of them: a pod's limits, the devices of a compose service or of `docker run --gpus`, a literal list of visible devices, a
batch job's GPUs per node, or `hardware.count`.

## Why
Every rank takes one GPU of its own; only the replicas of DP attention share those of tensor parallelism. A rank whose GPU does
not exist ends the launch while process groups are set up, after the pod was scheduled and the image pulled.

## Example
```yaml bad
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-32B, --tp-size, "8", --host, 0.0.0.0]
      resources:
        limits:
          nvidia.com/gpu: 4
```
```yaml good
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-32B, --tp-size, "4", --host, 0.0.0.0]
      resources:
        limits:
          nvidia.com/gpu: 4
```
```sh bad
CUDA_VISIBLE_DEVICES=0,1 vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4
```
```sh good
CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4
```

## Fix
None: fewer ranks or more GPUs is a decision.

## Source
sglang 0.5.9 srt/entrypoints/engine.py, srt/managers/data_parallel_controller.py; vLLM 0.33.0 vllm/config/parallel.py.
"""

from collections.abc import Iterator

from preflight.deployment import gpus_per_node, ranks_in_words
from preflight.diagnostics import ERROR, WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("PAR050", "more-ranks-than-gpus", ERROR, "init")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    spread, gpus = launch.spread, gpus_per_node(launch)
    if spread.needs is None or spread.nodes is None or gpus is None or spread.needs <= gpus.value.each:
        return
    if spread.nodes == 1 and (spread.rendezvous is not None or gpus.value.nodes != 1):  # another rule's, or somebody adds nodes
        return
    proven = gpus.value.proven and spread.placed_here
    where = f" on each of {spread.nodes} nodes" if spread.nodes > 1 else ""
    yield Finding(
        f"{ranks_in_words(launch, spread)} needs {spread.needs} GPUs{where} and gets {gpus.value.each}. Lower the sizes, or ask "
        f"for {spread.needs} GPUs.",
        launch.place(spread.sizes[0]) if spread.sizes else launch.head,
        severity=ERROR if proven else WARNING,
        stage="init" if proven else None,
        related=(Related(gpus.place, f"{gpus.value.each} GPUs"),),
        data={"needed": spread.needs, "gpus": gpus.value.each, "nodes": spread.nodes},
    )
