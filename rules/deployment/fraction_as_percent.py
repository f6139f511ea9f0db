"""A memory fraction is written as a percentage.

## What it does
Looks for a memory fraction above 1.

## Why
vLLM refuses it. SGLang takes it, keeps back less than nothing, and asks for a KV cache larger than the GPU.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
flags = { mem-fraction-static = 88 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
flags = { mem-fraction-static = 0.88 }
```
```sh bad
vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 90
```
```sh good
vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 0.9
```

## Fix
Safe for a value from 2 to 100, which fails for certain and can only mean per cent.

## Source
vLLM 0.33.0 vllm/config/cache.py; sglang 0.5.9 srt/model_executor/model_runner_kv_cache_mixin.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, SAFE, WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("UNT050", "fraction-as-percent", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    knob = launch.engine.knob
    value = launch.known(knob) if launch.use(knob) is not None else None
    if not isinstance(value, int | float) or not 1 < value < 1e6:
        return
    sized_otherwise = any(launch.use(name) is not None for name in launch.engine.pool_sizes)
    certain = launch.site.complete and not sized_otherwise
    percent = 2 <= value <= 100
    meant = f"{value / 100:.6g}"
    yield Finding(
        f"{knob} is a share between 0 and 1, and {value:g} is more than the whole GPU. "
        + (f"Write {meant}." if percent else "Give a value below 1."),
        launch.place(knob),
        severity=ERROR if certain else WARNING,
        stage=launch.engine.fraction_stage if certain else None,
        fixes=launch.fix(knob, float(meant), f"Set {knob} to {meant}", SAFE) if percent and certain else (),
        data={"value": value},
    )
