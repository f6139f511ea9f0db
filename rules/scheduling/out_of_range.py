"""A scheduling number is out of range.

## What it does
Checks schedule-conservativeness, prefill-decode-interval and gc-threshold.

## Why
Negative values mean nothing here, and Python's collector takes one to three thresholds. SGLang refuses the launch.

## Source
sglang srt/server_args.py `check_server_args`, 0.5.5.post3 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("FLG023", "scheduling-value-out-of-range", "sglang", "checks")
_SOURCE = "srt/server_args.py check_server_args"

ROWS = (
    Row(
        "C7",
        REFUSES,
        when=lambda s: s.schedule_conservativeness < 0,
        versions="0.5.5..",
        says="schedule-conservativeness is {schedule_conservativeness}. Use 0 or more; 1 is the default.",
        at="schedule-conservativeness",
        fix=(Set("schedule-conservativeness", None),),
        source=_SOURCE,
        bad="--schedule-conservativeness=-0.5 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--schedule-conservativeness=0.5 @ 0.5.9 8x-h100-80 llama-3.1-8b",
    ),
    Row(
        "C10",
        REFUSES,
        when=lambda s: s.prefill_decode_interval is not None and s.prefill_decode_interval < 0,
        versions="0.5.18..",
        says="prefill-decode-interval is {prefill_decode_interval}. Use 0 or more.",
        at="prefill-decode-interval",
        fix=(Set("prefill-decode-interval", None),),
        source="srt/arg_groups/validation_hook.py validate_prefill_decode_interval",
        bad="--prefill-decode-interval=-1 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--prefill-decode-interval=4 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        step="early",
    ),
    Row(
        "C10-batch",
        REFUSES,
        when=lambda s: s.prefill_decode_interval_min_bs is not None and s.prefill_decode_interval_min_bs < 0,
        versions="0.5.20..",
        says="prefill-decode-interval-min-bs is {prefill_decode_interval_min_bs}. Use 0 or more.",
        at="prefill-decode-interval-min-bs",
        fix=(Set("prefill-decode-interval-min-bs", None),),
        source="srt/arg_groups/validation_hook.py validate_prefill_decode_interval",
        step="early",
    ),
    Row(
        "C11",
        REFUSES,
        when=lambda s: bool(s.gc_threshold) and not 1 <= len(s.gc_threshold) <= 3,
        versions="0.5.10..",
        says="gc-threshold takes 1 to 3 integers, here {gc_threshold}. Give Python's three thresholds at most.",
        at="gc-threshold",
        fix=(Set("gc-threshold", None),),
        source=_SOURCE,
        bad="--gc-threshold 700 10 10 10 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--gc-threshold 700 10 10",
    ),
)
