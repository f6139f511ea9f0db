"""Compose fills in a variable that the shell script was to set.

## What it does
Looks for `$X` in a script of a compose file that sets X itself, or sources a file before and means a name with an underscore in
front, which is by custom a script's own.

## Why
Compose replaces `$X` and `${X}` in every text before a shell sees it, with its own X: mostly nothing. The script's value never
reaches the command. A dollar that is the shell's is written twice.

## Example
```yaml bad
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    entrypoint: [bash, -c]
    command: ["MODEL=Qwen/Qwen3-8B; exec vllm serve $MODEL"]
```
```yaml good
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    entrypoint: [bash, -c]
    command: ["MODEL=Qwen/Qwen3-8B; exec vllm serve $$MODEL"]
```

## Fix
None: the dollar has to be doubled wherever the variable is the script's.

## Source
The interpolation of the compose specification: https://docs.docker.com/reference/compose-file/interpolation/.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("CFG053", "swallowed-variable", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    seen = set()
    for name in launch.site.around.swallowed:
        if name.value not in seen:
            seen.add(name.value)
            yield Finding(
                f"Compose puts its own {name.value}, mostly nothing or a default, in place of the one that the script sets. "
                "Double the dollar.",
                name.place,
                data={"variable": name.value},
            )
