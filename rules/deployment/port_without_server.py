"""A probe, a Service or a published port leads to a port that the server does not open.

## What it does
Compares the port of a launch, given or the engine's default, with the ports by which its file reaches it. A port whose number
stands in the command, and a pod with further containers, are left out. A declared containerPort is only a remark to Kubernetes,
so a wrong one is a note.

## Why
The probe never succeeds and the pod is restarted for ever, or requests are refused, while the server's log looks healthy.

## Example
```yaml bad
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-8B, --port, "8080"]
    ports: ["8000:8000"]
```
```yaml good
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-8B, --port, "8080"]
    ports: ["8000:8080"]
```

## Fix
None: which of the two ports is meant is not known.

## Source
sglang 0.5.9 srt/server_args.py (port 30000 unless given); vLLM 0.33.0 vllm/entrypoints/openai/cli_args.py (8000).
"""

from collections.abc import Iterator

from preflight.deployment import is_for_metrics, opens
from preflight.diagnostics import NOTE, WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.launch import Port
from preflight.rule import rule

META = Rule("CFG051", "port-without-server", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    listening, around = launch.engine.listens(launch), launch.site.around
    if listening.port is None or not around.alone:
        return
    for by in ("probe", "Service", "ports", "containerPort"):
        ports = [port for port in around.ports if port.by == by and not is_for_metrics(port)]
        if ports and not any(opens(launch, port.number) for port in ports):
            yield _finding(launch, ports[0], listening.port)
            return


def _finding(launch: Launch, port: Port, own: int) -> Finding:
    what = {"ports": "The published port", "Service": "The Service's target port", "probe": "The probe's port"}
    place = launch.place("port")
    related = () if launch.use("port") is None else (Related(place, f"the server's port {own}"),)
    return Finding(
        f"{what.get(port.by, port.by)} {port.number} leads nowhere: the server listens on port {own}. Make the two equal.",
        port.place,
        severity=NOTE if port.by == "containerPort" else WARNING,
        related=related,
        data={"port": port.number, "server": own},
    )
