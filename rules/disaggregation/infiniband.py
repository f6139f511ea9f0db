"""The InfiniBand devices are no list of devices.

## What it does
Finds empty and repeated names in `disaggregation-ib-device` and `mooncake-ib-device`, where Mooncake reads them.

## Why
With the Mooncake transfer backend SGLang checks the names against the machine's devices before it starts. Up to 0.5.9 a
repeated name stops it; later it is dropped with a warning. An empty list stops it always. Without the flag Mooncake looks for
devices itself. Whether a device exists can only be seen on the machine: `ls /sys/class/infiniband`.

## Fix
Safe: each name once.

## Source
sglang 0.5.9 srt/server_args.py `_validate_ib_devices`; 0.5.23 srt/arg_groups/validation_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("PAR041", "infiniband-devices", "sglang", "encoder-disaggregation")

_FLAG = "disaggregation-ib-device"
_SOURCE = "srt/arg_groups/validation_hook.py"


def _names(s: State) -> list[str] | None:
    """The names as written, where Mooncake reads them; a JSON map or a file is not looked into."""
    transfers = s.disaggregation_mode in ("prefill", "decode") and s.disaggregation_transfer_backend == "mooncake"
    if not transfers and s.encoder_transfer_backend != "mooncake":
        return None
    text = s.disaggregation_ib_device
    if text is None or text.strip().startswith("{") or text.strip().endswith(".json"):
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def _repeated(s: State) -> bool:
    names = _names(s)
    return names is not None and len(set(names)) < len(names)


def _once(s: State) -> str:
    return ",".join(dict.fromkeys(_names(s) or ()))


ROWS = (
    Row(
        "D7",
        REFUSES,
        when=_repeated,
        versions="0.5.9..0.5.9",
        says=f"{_FLAG} names a device twice: {{disaggregation_ib_device}}. Name each once.",
        at=_FLAG,
        fix=(Set(_FLAG, _once, SAFE),),
        source=_SOURCE,
        bad=f"--disaggregation-mode prefill --{_FLAG} mlx5_0,mlx5_0 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good=f"--{_FLAG} mlx5_0,mlx5_1",
    ),
    Row(
        "D7",
        WARNS,
        when=_repeated,
        versions="0.5.10..",
        says=f"{_FLAG} names a device twice: {{disaggregation_ib_device}}. Name each once.",
        at=_FLAG,
        fix=(Set(_FLAG, _once, SAFE),),
        source=_SOURCE,
    ),
    Row(
        "D7",
        REFUSES,
        when=lambda s: _names(s) == [],
        versions="0.5.9..",
        says=f"{_FLAG} names no device. Leave it out: Mooncake then looks for devices itself.",
        at=_FLAG,
        fix=(Set(_FLAG, None),),
        source=_SOURCE,
    ),
)
