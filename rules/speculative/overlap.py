"""Speculative decoding decides about the overlap schedule.

## What it does
Says when SGLang schedules a speculating server without overlap, and when it turns the overlap on against
`disable-overlap-schedule`.

## Why
The overlapped scheduler prepares the next batch while the GPU still runs this one. Up to 0.5.10 speculation ran without
it unless `SGLANG_ENABLE_SPEC_V2` was set; with the variable, overlap is turned on whatever the flag says. In 0.5.12 it is
the default for chains (top-k 1). From 0.5.15 on overlap is always on and only `disable-overlap-schedule` turns it off.

## Fix
Safe: the flag has no effect there.

## Source
sglang 0.5.9 and 0.5.12.post1 srt/server_args.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.speculative import overlap_forced, overlap_off
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("SPC009", "speculation-sets-overlap-schedule", "sglang", "speculative")

ROWS = (
    Row(
        "S9",
        SETS,
        when=overlap_off,
        versions="..0.5.12",
        sets="disable-overlap-schedule",
        value=True,
        says="{speculative_algorithm} speculation runs without the overlap schedule here.",
        source="srt/server_args.py",
        order=30,
    ),
    Row(
        "S9",
        SETS,
        when=overlap_forced,
        versions="0.5.5..0.5.10",
        sets="disable-overlap-schedule",
        value=False,
        says="SGLANG_ENABLE_SPEC_V2 turns the overlap schedule on, against disable-overlap-schedule. Unset one of the two.",
        fix=(Set("disable-overlap-schedule", None, SAFE),),
        source="srt/server_args.py",
        order=27,
        bad="--speculative-algorithm EAGLE --disable-overlap-schedule --tp-size 8 @ 0.5.9 8x-h200 "
        "deepseek-v3 SGLANG_ENABLE_SPEC_V2=1",
        good="--no:disable-overlap-schedule",
    ),
)
