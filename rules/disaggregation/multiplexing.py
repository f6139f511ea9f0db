"""PD multiplexing excludes chunks, roles and overlap.

## What it does
Finds `enable-pdmux` without the settings that it needs.

## Why
PD multiplexing runs prefill and decode side by side on parts of one GPU. It schedules whole prompts, in one stage, by itself:
`pp-size` 1, `chunked-prefill-size` -1, no PD role, and `disable-overlap-schedule`. SGLang checks each by an assertion.

## Fix
Unsafe: whole prompts need more activation memory than chunks.

## Source
sglang 0.5.5.post3 to 0.5.18 srt/server_args.py check_server_args; 0.5.23 srt/arg_groups/validation_hook.py.
"""

from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("PAR044", "pd-multiplexing", "sglang", "checks")

_WANTED = (("pp-size", 1), ("chunked-prefill-size", -1), ("disaggregation-mode", "null"), ("disable-overlap-schedule", True))


def _first_fault(s: State) -> tuple[str, object] | None:
    if not s.enable_pdmux:
        return None
    return next(((name, wanted) for name, wanted in _WANTED if s.get(name) != wanted), None)


def _says(s: State) -> str:
    name, wanted = _first_fault(s) or ("", "")
    need = name if wanted is True else f"{name} {wanted}"
    return f"enable-pdmux needs {need}. Set it, or leave enable-pdmux out."


ROWS = (
    Row(
        "D22",
        REFUSES,
        when=lambda s: _first_fault(s) is not None,
        versions="0.5.5..",
        says=_says,
        at="enable-pdmux",
        fix=(Set("enable-pdmux", None),),
        source="srt/arg_groups/validation_hook.py",
        order=52,
        bad="--enable-pdmux @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--chunked-prefill-size -1 --disable-overlap-schedule",
    ),
)
