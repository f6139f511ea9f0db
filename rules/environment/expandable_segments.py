"""Expandable segments of PyTorch's allocator, where memory has to be of the ordinary kind.

## What it does
Looks for expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF beside what cannot live with it: the memory saver, and Mooncake's
transfer over EFA.

## Why
Out-of-memory messages of PyTorch recommend expandable segments. They are virtual memory mappings. The memory saver
of --enable-memory-saver replaces the allocator by mappings of its own and refuses to run beside them, at the load of the
weights; SGLang 0.5.23 refuses them where MOONCAKE_PROTOCOL is efa, as EFA cannot register such memory.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True" }
flags = { enable-memory-saver = true }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
flags = { enable-memory-saver = true }
```

## Source
torch_memory_saver entrypoint.py `_sanity_checks`; sglang 0.5.23 srt/disaggregation/mooncake/utils.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.engines.versions import parse_bounds
from preflight.environment import given
from preflight.rule import rule

META = Rule("ENV008", "expandable-segments", ERROR, "load")
_ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    names = given(launch, "sglang")
    for name in _ALLOCATOR:
        text = names[name].token.value if name in names else None
        if text is None or not _expandable(text):
            continue
        if name == _ALLOCATOR[0] and "expandable_segments:True" in text and launch.known("enable-memory-saver") is True:
            yield Finding(
                f"The memory saver does not work with expandable segments, which {name} asks for: the weights are not loaded. "
                "Remove one of the two.",
                names[name].token.place,
                related=launch.related(("enable-memory-saver",), names[name].token.place),
            )
        elif _over_efa(launch, names["MOONCAKE_PROTOCOL"].token.value if "MOONCAKE_PROTOCOL" in names else None):
            yield Finding(
                f"Mooncake over EFA cannot transfer memory of expandable segments, which {name} asks for. Remove it.",
                names[name].token.place,
                stage="init",
                related=launch.related(("disaggregation-mode",), names[name].token.place),
            )


def _over_efa(launch: Launch, protocol: str | None) -> bool:
    return (
        (protocol or "").lower() == "efa"
        and parse_bounds("0.5.23..").holds(launch.version.version)
        and launch.known("disaggregation-mode") in ("prefill", "decode")
        and launch.known("disaggregation-transfer-backend") == "mooncake"
    )


def _expandable(text: str) -> bool:
    fields = (field.partition(":") for field in text.split(","))
    return any(key.strip() == "expandable_segments" and value.strip().lower() == "true" for key, _, value in fields)
