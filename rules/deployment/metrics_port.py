"""Metrics are expected on a port that the server does not open.

## What it does
Looks for a container port or a Service port that is called after metrics and has another number than the server's.

## Why
Both engines serve metrics under /metrics of their HTTP port and open no second port for them, so the scraper finds nothing.

## Example
```yaml bad
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.20.0
      args: [Qwen/Qwen3-8B]
      ports: [{ name: http, containerPort: 8000 }, { name: metrics, containerPort: 9090 }]
```
```yaml good
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.20.0
      args: [Qwen/Qwen3-8B]
      ports: [{ name: http, containerPort: 8000 }]
```

## Fix
None: the scraper has to be pointed at the HTTP port as well.

## Source
sglang 0.5.9 srt/entrypoints/http_server.py; vLLM 0.33.0 vllm/entrypoints/serve/instrumentator/metrics.py.
"""

from collections.abc import Iterator

from preflight.deployment import is_for_metrics, opens
from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("CFG052", "metrics-port", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    listening, around = launch.engine.listens(launch), launch.site.around
    if listening.port is None or not around.alone:
        return
    port = next((port for port in around.ports if is_for_metrics(port) and not opens(launch, port.number)), None)
    if port is not None:
        yield Finding(
            f"{launch.engine.title} opens no port {port.number} for metrics: it serves /metrics on its HTTP port "
            f"{listening.port}. Scrape port {listening.port}.",
            port.place,
            data={"port": port.number, "server": listening.port},
        )
