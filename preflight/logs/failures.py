"""What an engine says when a boot stops, and which direction helps. Facts of the messages: condition and direction.

SGLang 0.4.6 to 0.5.23 srt/model_executor, srt/mem_cache, srt/managers/tp_worker.py; vLLM 0.12.0, 0.20.2, 0.33.0 v1/worker and
v1/core/kv_cache_utils.py. A message that only advises is not believed: the direction is that of the condition.
"""

from __future__ import annotations

import re

from preflight.logs.boot import LOWER, NEITHER, RAISE, Failure
from preflight.records import NamedTuple


class Shape(NamedTuple):
    """A message. Named groups are figures; a `stage` of None is that of the moment."""

    kind: str
    literal: str
    pattern: re.Pattern[str]
    stage: str | None
    direction: str | None
    says: str | None = None
    rank: int = 2
    """Which of two messages of one boot tells the cause: the higher."""


_N = r"-?\d+(?:\.\d+)?"
_I = re.I
_TORCH = (
    rf"Tried to allocate (?P<wanted>{_N} [KMG]iB)\. GPU \d+ has a total capacity of (?P<total>{_N} [KMG]iB) of which "
    rf"(?P<free>{_N} [KMG]iB) is free"
)


def _shape(
    kind: str, literal: str, pattern: str, stage: str | None, direction: str | None, says: str | None = None, rank: int = 2
) -> Shape:
    return Shape(kind, literal, re.compile(pattern, _I), stage, direction, says, rank)


SHAPES = (
    _shape(
        "no-pool-memory",
        "Not enough memory",
        rf"Not enough memory\. .*mem-fraction-static(?:.*?(?:mem_fraction_static=|value:?\s*(?:\S*=)?)(?P<fraction>{_N}))?",
        "kv-sizing",
        RAISE,
        RAISE,
    ),
    _shape(
        "weights-leave-nothing",
        "leave no GPU memory",
        rf"weights leave no GPU memory for the KV cache(?: under --mem-fraction-static=(?P<fraction>0?\.\d+|1))?"
        rf"(?:.*?above\s+(?P<minimum>{_N}))?",
        "kv-sizing",
        RAISE,
        RAISE,
    ),
    _shape("unbalanced", "unbalanced", r"memory capacity is unbalanced", "init", NEITHER),
    _shape("graph-capture", "raph failed", rf"Capture (?:\w+ )*graph failed(?:.*?{_TORCH})?", "capture", LOWER, LOWER),
    _shape("window-pool", "SWA pool", r"SWA pool.*(?:cannot hold|leaves no room)", "kv-sizing", RAISE, RAISE),
    _shape("state-pool", "state cache", r"Not enough GPU memory for .*state cache|state cache is too small", "kv-sizing", RAISE),
    _shape("no-request", "is zero", r"max_running_requests? is zero", "kv-sizing", RAISE),
    _shape("pool-too-small", "too small", r"Memory pool size is too small", "kv-sizing", RAISE),
    _shape(
        "free-below-utilization",
        "Free memory on device",
        rf"Free memory on device.*?\((?P<free_gib>{_N})/(?P<total_gib>{_N}) GiB\) on startup is less than desired GPU memory "
        rf"utilization \((?P<fraction>{_N}), (?P<requested_gib>{_N}) GiB\)",
        "init",
        LOWER,
        LOWER,
    ),
    _shape("no-cache-blocks", "cache blocks", r"No available memory for the cache blocks", "kv-sizing", RAISE, RAISE),
    _shape("profiling-disturbed", "memory profiling", r"Error in memory profiling", "kv-sizing", NEITHER),
    _shape(
        "context-does-not-fit",
        "To serve at least one request",
        rf"To serve at least one request with .*?max seq len \((?P<context>\d+)\), \(?(?P<needed_gib>{_N}) GiB KV cache is "
        rf"needed.*?available KV cache memory \((?P<available_gib>{_N}) GiB\)(?:.*?maximum model length is (?P<estimate>\d+))?",
        "kv-sizing",
        RAISE,
    ),
    _shape("context-does-not-fit", "auto-fit", r"Cannot auto-fit max_model_len", "kv-sizing", RAISE),
    _shape(
        "warm-up-memory",
        "warming up",
        r"out of memory occurred when warming up \w+ with (?P<requests>\d+) dummy requests",
        "capture",
        LOWER,
    ),
    _shape(
        "state-pool",
        "Mamba cache blocks",
        r"max_num_seqs \((?P<requests>\d+)\) exceeds available Mamba cache blocks \((?P<blocks>\d+)\)",
        "capture",
        RAISE,
    ),
    _shape(
        "out-of-memory",
        "out of memory",
        rf"(?:\b(?:CUDA|HIP|XPU|NPU|MUSA) (?:error: )?out of memory|OutOfMemoryError|Cuda failure.{{0,20}}out of "
        rf"memory)(?:.*?{_TORCH})?",
        None,
        None,
        rank=1,
    ),
    _shape("killed", "exit code", r"exit ?code:? ?(?:is )?-9\b|exitcode=-9\b", None, NEITHER, rank=1),
    _shape("killed", "SIGKILL", r"SIGKILL", None, NEITHER, rank=1),
    _shape(
        "exception",
        "Error: ",
        r"(?:^|[\])]\s)\s*(?P<_error>[A-Za-z_][\w.]*(?:Error|Exception)): (?P<_message>\S.*)",
        None,
        None,
        rank=0,
    ),
)

_UNITS = {"KiB": 2.0**-20, "MiB": 2.0**-10, "GiB": 1.0}
_WRAPPERS = ("Engine core initialization failed", "EngineCore failed", "Rank 0 scheduler died", "see root cause above")
_RAISED = re.compile(
    r"(?:\([^)]*\) )?(?:[A-Z]+ [\d-]+ [\d:]+ )?(?:\s*\[[^\]]*\])*\s*"
    r"(?:[A-Za-z_][\w.]*(?:Error|Exception)\b|.*(?:exit ?code|SIGKILL))"
)
"""A line that is an exception, behind what loggers put before it, or that tells how a process ended."""
_LATER = {"vllm": ("capture", "serving"), "sglang": ("kv-sizing", "capture", "serving")}


def failure_in(text: str, line: int, stage: str, engine: str) -> tuple[Failure, int] | None:
    """The failure that a message tells, and how well it tells the cause."""
    for shape in SHAPES:
        if shape.literal not in text:
            continue
        match = shape.pattern.search(text)
        if match is None or _is_source(text, match.start()):
            continue
        if stage == "serving" and shape.rank < 2 and _RAISED.match(text) is None:
            continue  # a log of requests may quote anything
        if shape.kind == "exception" and any(wrapper in text for wrapper in _WRAPPERS):
            continue
        at = shape.stage or stage
        direction = shape.direction
        if shape.kind == "out-of-memory":
            direction = LOWER if at in _LATER.get(engine, ()) else NEITHER
        shown = text[match.start() :].strip() if shape.kind != "exception" else text[match.start() :].strip(" ]")
        return Failure(shape.kind, at, line, shown[:400], direction, _numbers(match), shape.says), shape.rank
    return None


def _is_source(text: str, at: int) -> bool:
    """Whether the words stand in a line of source code, as a traceback shows it, and not in the message itself."""
    return text[max(at - 1, 0) : at] in ("'", '"') or re.match(r"[^'\"]*\braise \w", text) is not None


def _numbers(match: re.Match[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in match.groupdict().items():
        if value is None or name.startswith("_"):
            continue
        number, _, unit = value.partition(" ")
        if unit:
            found[f"{name}_gib"] = float(number) * _UNITS.get(unit, 1.0)
        else:
            found[name] = float(number)
    return found
