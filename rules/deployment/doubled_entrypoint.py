"""The command repeats what the image's entrypoint already is.

## What it does
Looks for a whole command that is handed to an image whose entrypoint is the server.

## Why
Kubernetes `args`, compose `command` and what follows the image of `docker run` are added to the entrypoint. The server gets
`vllm serve` as arguments of its own and refuses them.

## Example
```yaml bad
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: [vllm, serve, Qwen/Qwen3-8B]
```
```yaml good
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: [Qwen/Qwen3-8B]
```

## Fix
None: either the words go, or the entrypoint is replaced.

## Source
vLLM's docker/Dockerfile: the entrypoint of the OpenAI image, `vllm serve`, in older releases the API server's module.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import official
from preflight.rule import rule

META = Rule("FLG050", "doubled-entrypoint", ERROR, "arguments")
_DOUBLED = "image + "


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    entry = launch.site.entry
    if entry is None:
        return
    place, command = entry.place, entry.value.removeprefix(_DOUBLED)
    if command == entry.value:
        first = launch.site.argv[0] if launch.site.argv else None
        if entry.value != "image" or first is None or first.value != "serve":
            return
        place, command = first.place, "serve"
    proven = launch.site.image is not None and official(launch)
    yield Finding(
        f"{command} is handed to an image whose entrypoint already starts the server, which takes it for arguments and refuses "
        "them. Give the arguments alone, or replace the entrypoint (`command` in Kubernetes, `entrypoint` elsewhere).",
        place,
        severity=ERROR if proven else WARNING,
        stage="arguments" if proven else None,
        data={"command": command},
    )
