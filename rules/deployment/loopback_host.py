"""The server listens where nobody can reach it.

## What it does
Looks for a server that is bound to the loopback address while a Service, a probe, a container port or a published port leads to
it. The first of several nodes answers requests; the others are left out.

## Why
SGLang binds 127.0.0.1 unless `--host` says otherwise. In a container that is the container's own loopback: probes and Services
come by the pod's address and get no answer, and a pod that never becomes ready is restarted for ever.

## Example
```yaml bad
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B]
      ports: [{ containerPort: 30000 }]
```
```yaml good
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B, --host, 0.0.0.0]
      ports: [{ containerPort: 30000 }]
```

## Fix
Unsafe: it opens the server to the network.

## Source
sglang 0.4.6.post5 to 0.5.23 srt/server_args.py: the default of `host`.
"""

from collections.abc import Iterator

from preflight.diagnostics import UNSAFE, WARNING, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("CFG050", "loopback-host", WARNING)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    listening, around = launch.engine.listens(launch), launch.site.around
    if listening.host not in _LOOPBACK or around.on_host_network:
        return
    port = next((port for port in around.ports if port.number == listening.port), None)
    if port is None:
        return
    by = "the default of host" if launch.use("host") is None else "host"
    yield Finding(
        f"The server listens on {listening.host}, {by}, so nothing outside its container gets an answer on port {port.number}. "
        "Add --host 0.0.0.0."
        if launch.use("host") is None
        else f"The server listens on {listening.host}, so nothing outside its container gets an answer on port {port.number}. "
        "Set host to 0.0.0.0.",
        launch.place("host"),
        related=(Related(port.place, f"{port.by} {port.number}"),),
        fixes=launch.fix("host", "0.0.0.0", "Listen on 0.0.0.0", UNSAFE),
        data={"host": listening.host, "port": port.number},
    )
