"""A served model name may not contain a colon.

## What it does
Checks served-model-name, and model-path where it stands in for it.

## Why
A colon separates model and adapter in requests (`model:adapter`), so SGLang refuses a name that contains one. Up to
0.5.9 this also hits a model-path such as an object-store address, where no served-model-name is given.

## Source
sglang srt/server_args.py `check_server_args`, 0.5.5.post3 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("PAR017", "served-name-with-colon", "sglang", "checks")
_STORES = ("s3://", "gs://", "az://")


def _name(s: State) -> str:
    return str(s.served_model_name or s.model_path or "")


ROWS = (
    Row(
        "P38",
        REFUSES,
        when=lambda s: ":" in _name(s) and not (at_least(s, "0.5.10") and _name(s).lower().startswith(_STORES)),
        versions="0.5.5..",
        says=lambda s: (
            f"The served model name {_name(s)!r} contains a colon, which separates model and adapter. "
            "Serve it under another name."
        ),
        at="served-model-name",
        fix=(Set("served-model-name", lambda s: _name(s).rstrip("/").rpartition("/")[2].replace(":", "-")),),
        source="srt/server_args.py check_server_args",
        bad="--served-model-name llama:8b @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--served-model-name llama-8b",
    ),
)
