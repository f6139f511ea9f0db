"""A Service called vllm sets a variable that vLLM reads as its own.

## What it does
Looks for a Kubernetes Service named `vllm` beside a pod that runs vLLM, in one file and namespace. A headless Service, a pod with
`enableServiceLinks: false` and a container that sets VLLM_PORT itself are left out.

## Why
Kubernetes puts the address of every Service into the environment of later pods. A Service `vllm` gives `VLLM_PORT=tcp://…`,
which vLLM wants to be a number: it refuses to start.

## Example
```yaml bad
apiVersion: v1
kind: Service
metadata: { name: vllm }
spec:
  selector: { app: llm }
  ports: [{ port: 8000 }]
---
apiVersion: v1
kind: Pod
metadata: { name: llm, labels: { app: llm } }
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.20.0
      args: [Qwen/Qwen3-8B]
```
```yaml good
apiVersion: v1
kind: Service
metadata: { name: llm }
spec:
  selector: { app: llm }
  ports: [{ port: 8000 }]
---
apiVersion: v1
kind: Pod
metadata: { name: llm, labels: { app: llm } }
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.20.0
      args: [Qwen/Qwen3-8B]
```

## Fix
None: other files may use the Service's name.

## Source
vLLM 0.33.0 vllm/envs.py (`get_vllm_port`).
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("ENV050", "service-named-vllm", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    if launch.engine.name != "vllm" or "VLLM_PORT" in launch.env:
        return
    for service in launch.site.around.services:
        if service.value == "vllm":
            yield Finding(
                "A Service named vllm puts VLLM_PORT=tcp://… into the environment of pods that start after it, and vLLM refuses "
                "that value. Rename the Service, or set enableServiceLinks: false in the pod.",
                service.place,
                related=(Related(launch.head, "the launch"),),
            )
