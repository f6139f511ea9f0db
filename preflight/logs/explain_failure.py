"""A failure in words: the condition with its figures, then what helps. Directions follow from the moment, not the message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from preflight.logs.boot import AFTER, BEFORE, DRAFT, LOWER, NEITHER, RAISE, Boot, Failure
from preflight.logs.site import LogLaunch
from preflight.records import NamedTuple
from preflight.units import GIB, gib, round_down, round_up

_KNOBS = {"sglang": ("mem-fraction-static", "mem_fraction_static"), "vllm": ("gpu-memory-utilization", "gpu_memory_utilization")}
_TITLES = {"sglang": "SGLang", "vllm": "vLLM"}
_MOMENTS = {
    "arguments": "while it read its arguments",
    "init": "before it loaded weights",
    "load": "while it loaded weights",
    "kv-sizing": "while it sized the KV cache",
    "capture": "after the KV cache was allocated",
    "serving": "while it served requests",
}


class Told(NamedTuple):
    """`title` is what to do in the launch, where there is one edit; `data` the figures."""

    fact: str
    remedy: str
    title: str | None = None
    data: Mapping[str, object] = {}


def told(boot: Boot, launch: LogLaunch | None) -> Told:
    failure = boot.failure
    assert failure is not None
    tell = _TELLERS.get(failure.kind)
    found = None if tell is None else tell(boot, failure, launch)
    return found or _plain(boot, failure)


def fraction_of(boot: Boot) -> float | None:
    value: Any = boot.settings.get(_KNOBS[boot.engine][1])
    if value is None and boot.failure is not None:
        value = boot.failure.numbers.get("fraction")
    return float(value) if isinstance(value, int | float) and 0 < value <= 1 else None


def _stopped(boot: Boot, failure: Failure) -> str:
    return f"{_TITLES[boot.engine]} stopped {_MOMENTS[failure.stage]}"


def _no_pool(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told | None:
    """The rest by the engine's own arithmetic, from the figures of this log."""
    before, after, fraction = boot.figures.get(BEFORE), boot.figures.get(AFTER), fraction_of(boot)
    knob, least = _KNOBS[boot.engine][0], failure.numbers.get("minimum")
    if before is None or after is None or fraction is None or before.bytes <= 0 or boot.impossible:
        if least is None or fraction is None:
            return None
        fact = f"{_stopped(boot, failure)}: {knob} {fraction:g} leaves nothing for it."
        title = f"Set {knob} to {least:g} or more in the launch"
        return Told(fact, f"Raise {knob} to at least {least:g}.", title, {"value": fraction, "minimum": least})
    kept = before.bytes * (1 - fraction)
    rest = after.bytes - kept
    least = _least(boot, failure, launch)
    draft = " (the draft model included)" if DRAFT in boot.figures else ""
    fact = (
        f"{_stopped(boot, failure)}: {knob} {fraction:g} leaves {gib(rest)} for it. {gib(before.bytes)} were free before loading "
        f"and {gib(after.bytes)} after it{draft}, and 1 - {fraction:g} of the former, {gib(kept)}, is kept back."
    )
    data = {"rest_gib": rest / GIB, "value": fraction, "minimum": least}
    if least is None or least >= 1:
        return Told(
            fact,
            "The message says increase, but no value helps: spread the weights over more GPUs, or use a smaller weight format.",
            None,
            data,
        )
    if rest > 0:
        fact += " That is less than one page of tokens."
    suggested = _suggested(launch)
    if suggested is not None and suggested >= least:
        remedy = f"Raise {knob} to at least {least:g}; {suggested:g} also leaves room for CUDA graphs and activations."
        return Told(fact, remedy, f"Set {knob} to {suggested:g} in the launch", {**data, "suggested": suggested})
    remedy = f"Raise {knob} to at least {least:g}, and leave some room above the weights for the KV cache."
    return Told(fact, remedy, f"Set {knob} to {least:g} or more in the launch", data)


def _least(boot: Boot, failure: Failure, launch: LogLaunch | None) -> float | None:
    if launch is not None and launch.budget.knob.minimum is not None:
        return launch.budget.knob.minimum
    before, after = boot.figures[BEFORE], boot.figures[AFTER]
    return round_up(max(1 - after.bytes / before.bytes, failure.numbers.get("minimum", 0)), 4)


def _suggested(launch: LogLaunch | None) -> float | None:
    """What leaves room for late consumers, where the GPU is known: without it they cannot be told."""
    return None if launch is None or launch.launch.hardware is None else launch.budget.knob.suggested


def _late(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told:
    """Memory was missing after the pools had taken theirs: they have to leave more."""
    knob, fraction = _KNOBS[boot.engine][0], fraction_of(boot)
    before, free = boot.figures.get(BEFORE), boot.figures.get("free-after-pool")
    fact = f"{_stopped(boot, failure)}: {_wanted(failure)}"
    if free is not None:
        fact += f", and {gib(free.bytes)} were free once the KV cache stood"
    lower = _lower(failure, fraction, None if before is None else before.bytes, launch)
    value = "" if fraction is None else f" from {fraction:g}"
    by = "" if lower is None else f" to {lower:g} or less"
    cure = (
        "fewer CUDA graphs (cuda-graph-max-bs)" if failure.stage == "capture" else "smaller prefill chunks (chunked-prefill-size)"
    )
    if boot.engine == "vllm":
        cure = "fewer requests at once (max-num-seqs)"
    if failure.stage == "kv-sizing":
        cure = "a smaller request table (context-length, max-running-requests)"
    remedy = f"Do not increase {knob}: this out-of-memory needs a smaller KV cache. Lower it{value}{by}, or ask for {cure}."
    title = None if lower is None else f"Set {knob} to {lower:g} in the launch"
    return Told(f"{fact}.", remedy, title, {"value": fraction, "highest": lower, **failure.numbers})


def _wanted(failure: Failure) -> str:
    wanted, free = failure.numbers.get("wanted_gib"), failure.numbers.get("free_gib")
    if wanted is None:
        return "GPU memory ran out"
    left = "" if free is None else f" with {gib(free * GIB)} left"
    return f"{gib(wanted * GIB)} more were asked for{left}"


def _lower(failure: Failure, fraction: float | None, before: float | None, launch: LogLaunch | None) -> float | None:
    """By what the failed allocation lacked, or to what the ledger leaves late consumers: the lower of both."""
    if fraction is None:
        return None
    found: list[float] = []
    wanted, free = failure.numbers.get("wanted_gib"), failure.numbers.get("free_gib")
    if wanted is not None and free is not None and before:
        found.append(fraction - max(wanted - free, 0) * GIB / before)
    if launch is not None and launch.launch.hardware is not None and launch.budget.knob.highest is not None:
        found.append(launch.budget.knob.highest)
    value = round_down(min(found), 3) if found else None
    return value if value is not None and 0 < value < fraction else None


def _memory(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told:
    if failure.direction == LOWER:
        return _late(boot, failure, launch)
    knob = _KNOBS[boot.engine][0]
    before = boot.figures.get(BEFORE)
    free = "" if before is None else f"; {gib(before.bytes)} were free before loading"
    fact = f"{_stopped(boot, failure)}: {_wanted(failure)}{free}."
    if failure.stage == "kv-sizing":
        remedy = (
            f"The trial run needs too much, and {knob} changes nothing about it: lower max-num-batched-tokens or max-num-seqs."
        )
        return Told(fact, remedy, None, failure.numbers)
    remedy = (
        f"The weights do not fit into what is free, and neither a higher nor a lower {knob} changes that: use more GPUs "
        f"(tp-size), a "
        "smaller weight format, or end what else uses the GPU (`nvidia-smi`)."
    )
    return Told(fact, remedy, None, failure.numbers)


def _unbalanced(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told:
    free = {name: rank[BEFORE] for name, rank in boot.by_rank.items() if BEFORE in rank}
    least = "" if not free else f" The least free of {len(free)} ranks has {gib(min(one.bytes for one in free.values()))}."
    fact = f"{_stopped(boot, failure)}: one GPU has less than 90 % of the free memory of another.{least}"
    return Told(fact, "End what else uses that GPU (`nvidia-smi`); no memory fraction changes it.")


def _killed(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told:
    fact = f"A process of {_TITLES[boot.engine]} was killed {_MOMENTS[failure.stage]} (exit code -9)."
    remedy = "That is the kernel or the container's limit on main memory, not the GPU: `dmesg | grep -i oom` tells."
    return Told(fact, remedy)


def _free_below(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told | None:
    numbers = failure.numbers
    if not {"free_gib", "total_gib", "requested_gib", "fraction"} <= set(numbers) or numbers["total_gib"] <= 0:
        return None
    highest = round_down(numbers["free_gib"] / numbers["total_gib"], 3)
    fact = (
        f"{_stopped(boot, failure)}: gpu-memory-utilization {numbers['fraction']:g} asks for "
        f"{gib(numbers['requested_gib'] * GIB)}, "
        f"and {gib(numbers['free_gib'] * GIB)} of {gib(numbers['total_gib'] * GIB)} are free."
    )
    remedy = f"End what else uses the GPU (`nvidia-smi`), or lower gpu-memory-utilization to {highest:g}."
    return Told(fact, remedy, f"Set gpu-memory-utilization to {highest:g} in the launch", {**numbers, "highest": highest})


def _context(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told | None:
    numbers = failure.numbers
    if "needed_gib" not in numbers or "context" not in numbers:
        return None
    fact = (
        f"{_stopped(boot, failure)}: one request of {numbers['context']:,.0f} tokens needs {gib(numbers['needed_gib'] * GIB)}, "
        f"and "
        f"{gib(numbers['available_gib'] * GIB)} are available."
    )
    estimate = numbers.get("estimate")
    if not estimate:
        return Told(fact, "Raise gpu-memory-utilization, or lower max-model-len.", None, numbers)
    title = f"Set max-model-len to {estimate:.0f} in the launch"
    return Told(fact, f"Lower max-model-len to {estimate:,.0f}, or raise gpu-memory-utilization.", title, numbers)


def _no_blocks(boot: Boot, failure: Failure, launch: LogLaunch | None) -> Told:
    available, weights = boot.figures.get("kv-cache"), boot.figures.get("weights")
    left = "" if available is None else f": {gib(available.bytes)} are left for it"
    taken = "" if weights is None else f"; weights take {gib(weights.bytes)}"
    fraction = fraction_of(boot)
    now = "" if fraction is None else f" from {fraction:g}"
    return Told(
        f"{_stopped(boot, failure)}{left}{taken}.", f"Raise gpu-memory-utilization{now}, or lower max-num-batched-tokens."
    )


def _plain(boot: Boot, failure: Failure) -> Told:
    knob = _KNOBS[boot.engine][0]
    text = failure.text if len(failure.text) <= 200 else f"{failure.text[:197]}…"
    remedy = {
        RAISE: f"Raise {knob}, or ask less of the KV cache.",
        LOWER: f"Lower {knob}, or what is allocated after the KV cache.",
        NEITHER: f"{knob} does not change it.",
        None: "Memory is not what it names: read the lines above it.",
    }[failure.direction]
    return Told(f"{_stopped(boot, failure)}: {text.rstrip('.')}.", remedy, None, failure.numbers)


Teller = Callable[[Boot, Failure, LogLaunch | None], "Told | None"]
_TELLERS: Mapping[str, Teller] = {
    "no-pool-memory": _no_pool,
    "weights-leave-nothing": _no_pool,
    "graph-capture": _late,
    "warm-up-memory": _late,
    "out-of-memory": _memory,
    "unbalanced": _unbalanced,
    "killed": _killed,
    "free-below-utilization": _free_below,
    "context-does-not-fit": _context,
    "no-cache-blocks": _no_blocks,
}
