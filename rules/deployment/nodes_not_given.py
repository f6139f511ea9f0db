"""Nodes have a meeting point, but nobody says how many there are.

## What it does
Looks for a launch whose ranks do not fit on its node, which gives the address where nodes meet and no number of nodes.

## Why
The address alone does not make a launch span nodes: without `--nnodes` every pod starts all ranks by itself and asks for GPUs
that it has not got. `--node-rank` must differ from node to node.

## Example
```yaml bad
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server]
      args: [--model-path, deepseek-ai/DeepSeek-V3, --tp, "16", --dist-init-addr, "llm-0:20000", --host, 0.0.0.0]
      resources:
        limits:
          nvidia.com/gpu: 8
```
```yaml good
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server]
      args: [--model-path, deepseek-ai/DeepSeek-V3, --tp, "16", --dist-init-addr, "llm-0:20000", --nnodes, "2", --node-rank, "0"]
      resources:
        limits:
          nvidia.com/gpu: 8
```

## Fix
None: the rank of a node comes from its environment.

## Source
sglang 0.5.9 srt/server_args.py (`nnodes` is 1 unless given), srt/entrypoints/engine.py.
"""

from collections.abc import Iterator

from preflight.deployment import gpus_per_node, ranks_in_words
from preflight.diagnostics import ERROR, WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("PAR051", "nodes-not-given", ERROR, "init")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    spread, gpus = launch.spread, gpus_per_node(launch)
    if spread.rendezvous is None or spread.nodes != 1 or spread.needs is None or gpus is None:
        return
    if spread.needs <= gpus.value.each or launch.use("nnodes") is not None:
        return
    proven = gpus.value.proven and spread.placed_here
    nodes = -(-spread.needs // gpus.value.each)
    yield Finding(
        f"{spread.rendezvous} is given without nnodes, so {ranks_in_words(launch, spread)} takes {spread.needs} GPUs of one "
        f"node, which has {gpus.value.each}. Add --nnodes {nodes}, and a --node-rank of its own to every node.",
        launch.place(spread.rendezvous),
        severity=ERROR if proven else WARNING,
        stage="init" if proven else None,
        related=(Related(gpus.place, f"{gpus.value.each} GPUs"),),
        data={"needed": spread.needs, "gpus": gpus.value.each},
    )
