"""Priorities are set up half.

## What it does
Checks the options of priority scheduling against enable-priority-scheduling and the schedule policy.

## Why
Priorities are weighed by two policies only, fcfs and lof. Without enable-priority-scheduling the other priority
options do nothing, and the retraction policy that needs priorities is refused.

## Source
sglang srt/server_args.py `check_server_args`, 0.5.5.post3 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("FLG022", "priority-scheduling", "sglang", "checks")
_SOURCE = "srt/server_args.py check_server_args"


def _idle(s: State) -> str | None:
    if s.enable_priority_scheduling:
        return None
    if s.disable_priority_preemption:
        return "disable-priority-preemption"
    return "default-priority-value" if s.default_priority_value is not None else None


ROWS = (
    Row(
        "C4",
        REFUSES,
        when=lambda s: s.enable_priority_scheduling and s.schedule_policy not in ("fcfs", "lof"),
        versions="0.5.5..",
        says="enable-priority-scheduling works with schedule-policy fcfs or lof, not {schedule_policy}. Set one of them.",
        at="schedule-policy",
        fix=(Set("schedule-policy", "fcfs"),),
        source=_SOURCE,
        bad="--enable-priority-scheduling --schedule-policy lpm @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--schedule-policy fcfs",
    ),
    Row(
        "C5",
        WARNS,
        when=lambda s: _idle(s) is not None,
        versions="0.5.10..",
        says=lambda s: f"{_idle(s)} does nothing without enable-priority-scheduling. Add that, or take it out.",
        at="disable-priority-preemption",
        fix=(Set("enable-priority-scheduling", True),),
        source=_SOURCE,
        bad="--disable-priority-preemption @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--enable-priority-scheduling",
    ),
    Row(
        "C6",
        REFUSES,
        when=lambda s: s.retraction_policy == "priority" and not s.enable_priority_scheduling,
        versions="0.5.15..",
        says="retraction-policy priority needs enable-priority-scheduling. Add it.",
        at="retraction-policy",
        fix=(Set("enable-priority-scheduling", True),),
        source=_SOURCE,
        bad="--retraction-policy priority @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--enable-priority-scheduling",
    ),
)
