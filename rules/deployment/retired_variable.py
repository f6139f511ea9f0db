"""The environment sets a variable that vLLM no longer reads.

## What it does
Looks for variables of older releases. Where the release is not known this is a note.

## Why
An unknown variable is ignored without a word, so the launch does not do what its file says.

## Example
```yaml bad
services:
  llm:
    image: vllm/vllm-openai:v0.33.0
    command: [Qwen/Qwen3-8B]
    environment: { VLLM_ATTENTION_BACKEND: FLASHINFER }
```
```yaml good
services:
  llm:
    image: vllm/vllm-openai:v0.33.0
    command: [Qwen/Qwen3-8B, --attention-backend, FLASHINFER]
```

## Fix
None: the variable may be there for another program.

## Source
vLLM 0.33.0 vllm/envs.py, which has none of them; 0.8.5 and 0.10.0 have.
"""

from collections.abc import Iterator

from preflight.diagnostics import NOTE, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("ENV051", "retired-variable", WARNING)
_GONE = (0, 33, 0)
_RETIRED = {
    "VLLM_USE_V1": "Remove it: there is only one engine.",
    "VLLM_ATTENTION_BACKEND": "Use --attention-backend.",
    "VLLM_USE_FLASHINFER_MOE_FP4": "Use --moe-backend.",
}


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    given = launch.version.given
    if launch.engine.name != "vllm" or (given is not None and launch.version.version < _GONE):
        return
    for variable in launch.site.env:
        remedy = _RETIRED.get(variable.name)
        if remedy is not None:
            yield Finding(
                f"vLLM {given or '0.33.0'} ignores {variable.name}, a variable of older releases. {remedy}",
                variable.name_place,
                severity=WARNING if given is not None else NOTE,
                data={"variable": variable.name},
            )
