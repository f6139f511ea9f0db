"""CUDA_VISIBLE_DEVICES names GPUs in a form that custom all-reduce cannot read.

## What it does
Looks for UUIDs (GPU-…) and MIG names in CUDA_VISIBLE_DEVICES of a launch over several GPUs of one node.

## Why
CUDA takes such names, but SGLang's custom all-reduce reads the variable as a list of numbers. Its set-up fails, the failure is
caught, and every small all-reduce goes through NCCL: slower decoding without an error.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { CUDA_VISIBLE_DEVICES = "GPU-5ebe9f43,GPU-2a1c5d77" }
flags = { tp-size = 2 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
env = { CUDA_VISIBLE_DEVICES = "0,1" }
flags = { tp-size = 2 }
```

## Source
sglang srt/distributed/device_communicators/custom_all_reduce.py; custom_all_reduce_utils.py in 0.5.23.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.environment import given
from preflight.rule import rule

META = Rule("ENV010", "unreadable-visible-devices", WARNING)
_NAME = "CUDA_VISIBLE_DEVICES"


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    variable = given(launch, "sglang").get(_NAME)
    text = variable.token.value if variable is not None else None
    tp = launch.known("tp-size")
    if variable is None or not text or not isinstance(tp, int) or tp < 2:
        return
    if launch.value("disable-custom-all-reduce") not in (None, False):
        return
    odd = next((part.strip() for part in text.split(",") if part.strip().startswith(("GPU-", "MIG-"))), None)
    if odd is not None:
        yield Finding(
            f"Custom all-reduce is off, as it cannot read {odd} in {_NAME}. Name the GPUs by number.",
            variable.token.place,
        )
