"""SGLang's memory ledger (facts: sglang-memory §1): rest = available - free_before_load · (1 - mem_fraction_static).

`free_before_load` is the least free memory over the ranks before any weight is loaded, `available` the least after loading.
0.4.6 to 0.5.5 srt/model_executor/model_runner.py; 0.5.8 and 0.5.9 model_runner_kv_cache_mixin.py; 0.5.18 to 0.5.23
srt/mem_cache/kv_cache_configurator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from preflight.engines.sglang import overheads
from preflight.engines.sglang.defaults import reserve_mib
from preflight.engines.sglang.facts import at_least, attention_dp, dp_attention, ranks
from preflight.engines.sglang.kv import Pool, pool
from preflight.engines.sglang.late import late_rows
from preflight.engines.steps import State, Unknown
from preflight.memory.budget import BEFORE_LOAD, KV_SIZING, LOAD, Budget, Knob, LedgerRow
from preflight.memory.range import Range, exactly, total
from preflight.model.types import Parallel
from preflight.model.weights import WeightRow, weight_rows
from preflight.units import MIB, round_down, round_up

if TYPE_CHECKING:
    from preflight.engines.base import Launch

T = TypeVar("T")
KNOB = "mem-fraction-static"


def state_of(launch: Launch) -> State:
    """The resolved settings as the conditions of rows see them."""
    return State(
        dict(launch.settings),
        version=launch.version.version,
        hardware=launch.hardware,
        model=launch.model,
        draft=launch.draft,
        env=launch.env,
        complete=launch.site.complete,
    )


def parallel(s: State) -> Parallel:
    replicas = attention_dp(s) if dp_attention(s) else 1
    return Parallel(
        tp=int(s.tp_size),
        pp=int(s.pp_size),
        attn_dp=replicas,
        ep=int(s.ep_size or 1),
        moe_dense_tp=s.moe_dense_tp_size,
        attn_cp=int(s.attn_cp_size or 1),
        dp_lm_head=bool(s.enable_dp_lm_head),
        shared_experts_replicated=s.moe_a2a_backend not in (None, "none"),
        vision_replicated=bool(s.mm_enable_dp_encoder),
        redundant_experts=int(s.ep_num_redundant_experts or 0),
    )


class _Load(NamedTuple):
    weights: Range | None
    draft: Range | None
    rows: list[LedgerRow]


def budget(launch: Launch) -> Budget:
    """The ledger of one launch; figures that need an unknown input are None and named in `missing`."""
    s = state_of(launch)
    missing: list[str] = []
    seen = launch.observed
    size = launch.hardware.memory if launch.hardware else None
    physical = None if size is None else exactly(size)
    before = seen.free_before_load or _ask(lambda: _free_before_load(s, launch, missing), missing)
    load = _ask(lambda: _load(s, launch, missing), missing) or _Load(None, None, [])
    fraction = _ask(lambda: s.mem_fraction_static, missing)
    model = launch.model
    kv_pool = None if model is None else _ask(lambda: pool(s, model), missing)
    further = _further_reserves(s)
    after = seen.free_after_load
    if after is None and before is not None and load.weights is not None:
        after = before.minus(load.weights.plus(load.draft or exactly(0))).ordered()
    rest = _rest(fraction, before, after, load, observed=seen.free_after_load is not None)
    rest = None if rest is None else rest.shifted(-further)
    tokens = None if rest is None or kv_pool is None else Range(*(kv_pool.tokens(value) for value in rest))
    context = _context_length(s, launch)
    late = _ask(
        lambda: late_rows(
            s,
            None if tokens is None else int(tokens.expected),
            context,
            kv_pool.cell if kv_pool else 0,
            kv_pool.page if kv_pool else 1,
        ),
        missing,
    )
    late_total = None if late is None else total([row.bytes for row in late])
    knob = _knob(launch, s, fraction, before, after, further, kv_pool, late_total)
    rows = [
        *_before_rows(before, physical),
        *load.rows,
        *([LedgerRow("multimodal reserve", KV_SIZING, exactly(further), "kv_cache_configurator.py")] if further else []),
        *(late or []),
    ]
    starts = tokens is not None and tokens.expected > 0
    return Budget(
        knob=knob,
        total=physical,
        free_before_load=before,
        weights=load.weights
        if seen.free_after_load is None or before is None or after is None
        else _drop(before, after, load.draft),
        draft_weights=load.draft,
        free_after_load=after,
        reserved=None if before is None or fraction is None else before.times(1 - fraction),
        rest=rest,
        kv_cache=None if tokens is None or kv_pool is None else tokens.times(kv_pool.cell if starts else 0),
        graphs=next((row.bytes for row in late or () if row.name == "CUDA graphs"), None),
        rows=tuple(rows),
        bytes_per_token=kv_pool.cell if kv_pool else None,
        page_tokens=kv_pool.page if kv_pool else 1,
        tokens=tokens,
        context_length=context,
        late=late_total,
        headroom=None if before is None or fraction is None else before.times(1 - fraction),
        missing=tuple(dict.fromkeys(missing)),
    )


def _ask(question: Callable[[], T], missing: list[str]) -> T | None:
    """The answer, or None with what is missing noted."""
    try:
        return question()
    except Unknown as unknown:
        missing.append(str(unknown))
        return None


def _drop(before: Range, after: Range, draft: Range | None) -> Range:
    """What loading took: the difference of two measurements."""
    used = before.minus(after)
    return used if draft is None else used.minus(draft)


def _free_before_load(s: State, launch: Launch, missing: list[str]) -> Range | None:
    """The card's memory less context and communicators; proved is only that it is no more than the card has."""
    hardware = launch.hardware
    if hardware is None or hardware.memory is None:
        missing.append("GPU memory")
        return None
    ceiling = hardware.memory if hardware.memory_cuda is None else hardware.memory_cuda
    low, expected, high = overheads.before_load(ranks(s))
    return Range(0, ceiling - high, ceiling - expected, ceiling - low, ceiling).ordered()


def _load(s: State, launch: Launch, missing: list[str]) -> _Load:
    """Target and draft weights with what loading leaves behind; measured figures replace the estimate."""
    model, seen = launch.model, launch.observed
    if seen.free_before_load is not None and seen.free_after_load is not None:
        used = _drop(seen.free_before_load, seen.free_after_load, None)
        rows = [LedgerRow("weights and load leftovers", LOAD, used, "observed")]
        return _Load(used, None, rows)
    draft = _draft_weights(s, launch, missing)
    if seen.weights is not None:
        return _Load(seen.weights, draft, [LedgerRow("weights", LOAD, seen.weights, "observed")])
    if model is None:
        missing.append("the model")
        return _Load(None, draft, [])
    parts = weight_rows(model, parallel(s), "sglang")
    if parts is None:
        missing.append("the model's weights")
        return _Load(None, draft, [])
    rows = [_weight_ledger_row(part) for part in parts]
    expected, floor = sum(part.bytes_expected for part in parts), sum(part.bytes_floor for part in parts)
    low, middle, high = overheads.load_leftover(expected)
    rows.append(LedgerRow("load leftovers", LOAD, Range(0, low, middle, high, high), "estimate"))
    ceiling = launch.hardware.memory if launch.hardware and launch.hardware.memory else expected + 4 * high
    weights = Range(floor, expected + low, expected + middle, expected + high, max(ceiling, expected + high))
    return _Load(weights.ordered(), draft, rows)


def _weight_ledger_row(part: WeightRow) -> LedgerRow:
    floor, expected = float(part.bytes_floor), float(part.bytes_expected)
    return LedgerRow(part.name, LOAD, Range(floor, expected, expected, expected, max(floor, expected)), part.rule)


def _draft_weights(s: State, launch: Launch, missing: list[str]) -> Range | None:
    """Counted before KV sizing from 0.5.15 on; before that they load after it."""
    if launch.observed.draft_weights is not None:
        return launch.observed.draft_weights
    if launch.draft is None or s.speculative_algorithm is None or not at_least(s, "0.5.15"):
        return None
    parts = weight_rows(launch.draft, parallel(s), "sglang")
    if parts is None:
        missing.append("the draft model's weights")
        return None
    expected, floor = sum(part.bytes_expected for part in parts), sum(part.bytes_floor for part in parts)
    return Range(floor, expected, expected, expected * 1.05, expected * 1.5)


def _rest(fraction: float | None, before: Range | None, after: Range | None, load: _Load, *, observed: bool) -> Range | None:
    """After loading less the reserve. Where nothing was measured, both terms hang on the same free memory, so it counts once."""
    if fraction is None or before is None:
        return None
    if observed and after is not None:
        return after.minus(before.times(1 - fraction))
    if load.weights is None:
        return None
    return before.times(fraction).minus(load.weights.plus(load.draft or exactly(0)))


def _further_reserves(s: State) -> float:
    """0.5.18 on: a multimodal model keeps its embedding cache, and a feature cache for device transports."""
    if not at_least(s, "0.5.18"):
        return 0.0
    try:
        if s.model.known("vision") is None:
            return 0.0
        cache = float(s.env("SGLANG_VLM_CACHE_SIZE_MB", "100") or 0)
        if s.mm_feature_transport in ("cuda_ipc", "cuda_vmm"):
            cache += float(s.env("SGLANG_MM_FEATURE_CACHE_MB", "1024") or 0)
        return cache * MIB
    except (Unknown, ValueError):
        return 0.0


def _context_length(s: State, launch: Launch) -> int | None:
    try:
        length = s.context_length
    except Unknown:
        return None
    if length is None and launch.model is not None:
        length = launch.model.context_length
    return None if length is None else int(length)


def _before_rows(before: Range | None, physical: Range | None) -> list[LedgerRow]:
    if before is None or physical is None:
        return []
    taken = physical.minus(before).at_least(0)
    return [LedgerRow("context and communicators", BEFORE_LOAD, taken, "total less free before load")]


def _knob(
    launch: Launch,
    s: State,
    fraction: float | None,
    before: Range | None,
    after: Range | None,
    further: float,
    kv_pool: Pool | None,
    late: Range | None,
) -> Knob:
    """The least fraction that leaves one page, and the one that leaves the late consumers their room."""
    knob = Knob(KNOB, launch.flag(KNOB), fraction, base="the memory that is free before loading, least over the ranks")
    if before is None or after is None or before.expected <= 0:
        return knob
    page = kv_pool.cell * kv_pool.page if kv_pool else 1
    least = (before.expected - after.expected + further + page) / before.expected
    minimum = round_up(least, 4) if least < 1 else None
    try:
        own_reserve = reserve_mib(s) * MIB
    except Unknown:
        own_reserve = 0.0
    room = max(late.expected if late is not None else 0.0, own_reserve)
    suggested: float | None = None
    if room > 0:
        suggested = round_down(1 - room / before.expected, 3)
        if minimum is None or suggested < minimum:
            suggested = None
    highest = None if late is None else round_down(1 - late.low / before.expected, 3)
    return knob._replace(minimum=minimum, suggested=suggested, highest=highest)
