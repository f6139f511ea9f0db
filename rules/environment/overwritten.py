"""An environment variable that the server overwrites.

## What it does
Reports variables whose value the server replaces at start, always or because of a flag.

## Why
SGLang sets some variables of CUDA, NCCL and its own for the processes that it starts, without a look at what they hold:
CUDA_DEVICE_MAX_CONNECTIONS always, NCCL's memory and NVLS switches where a flag asks for symmetric memory or NVLS (up to 0.5.2
always), and variables that carry a flag to the workers. Only the flag counts then.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { CUDA_DEVICE_MAX_CONNECTIONS = "1" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
```

## Source
sglang srt/entrypoints/engine.py `_set_envs_and_config`, srt/server_args.py, srt/arg_groups/serving_hook.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.engines.steps import UNKNOWN
from preflight.engines.versions import parse_bounds
from preflight.environment import given
from preflight.rule import rule

META = Rule("ENV007", "overwritten-variable", WARNING)

_ALWAYS = {
    "CUDA_DEVICE_MAX_CONNECTIONS": (("..0.5.4", "4"), ("0.5.5..", "8")),
    "CUDA_MODULE_LOADING": (("..0.5.18", "AUTO"),),
    "TF_CPP_MIN_LOG_LEVEL": (("..0.5.4", "3"),),
    "TORCH_NCCL_AVOID_RECORD_STREAMS": (("..0.4.10", "1"),),
}
"""Releases and the value that the server sets whatever there was."""
_OF_FLAGS = {
    "SGLANG_ENABLE_TORCH_COMPILE": ("..", "enable-torch-compile"),
    "SGLANG_DISABLE_OUTLINES_DISK_CACHE": ("..", "disable-outlines-disk-cache"),
    "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": ("0.5.5..", "enable-deterministic-inference"),
}
"""Releases and the switch whose value the server sets."""
_OF_NCCL = {
    "NCCL_CUMEM_ENABLE": ("enable-symm-mem",),
    "NCCL_NVLS_ENABLE": ("enable-symm-mem", "enable-nccl-nvls"),
}
_TRUE, _FALSE = ("1", "true", "yes", "y"), ("0", "false", "no", "n")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    version = launch.version.version
    for name, variable in given(launch, "sglang").items():
        text = variable.token.value
        if text is None or not launch.version.known:
            continue
        new, why = None, "at every start"
        if name in _ALWAYS:
            new = next((value for bounds, value in _ALWAYS[name] if parse_bounds(bounds).holds(version)), None)
        elif name in _OF_FLAGS:
            bounds, flag = _OF_FLAGS[name]
            if parse_bounds(bounds).holds(version):
                new, why = _switch(launch.value(flag)), f"by what --{flag} says"
        elif name in _OF_NCCL:
            new, why = _nccl(launch, name)
        if new is None or _same(text, new):
            continue
        remedy = "Remove it." if name in _ALWAYS else f"Use --{_OF_FLAGS[name][1]}." if name in _OF_FLAGS else "Remove one."
        yield Finding(
            f"{name}={text} has no effect: {launch.engine.title} {launch.version.text} sets it to {new} {why}. {remedy}",
            variable.token.place,
            data={"variable": name},
        )


def _switch(value: object) -> str | None:
    return None if value is UNKNOWN else "1" if value else "0"


def _nccl(launch: Launch, name: str) -> tuple[str | None, str]:
    """What NCCL's switch is set to; None where the user's value stays, or is not known."""
    flags = [flag for flag in _OF_NCCL[name] if launch.known(flag) is True]
    if flags:
        return "1", f"because of --{flags[0]}"
    early = parse_bounds("..0.5.4").holds(launch.version.version)
    unknown = any(launch.value(flag) is UNKNOWN for flag in _OF_NCCL[name])
    return ("0" if early and not unknown else None), "at every start"


def _same(text: str, new: str) -> bool:
    word = text.lower()
    return word == new.lower() or (new == "1" and word in _TRUE) or (new == "0" and word in _FALSE)
