"""SGLang's memory ledger (facts: sglang-memory §1): rest = available - free_before_load · (1 - mem_fraction_static).

`free_before_load` is the least free memory over the ranks before any weight is loaded, `available` the least after loading.
0.4.6 to 0.5.5 srt/model_executor/model_runner.py; 0.5.8 and 0.5.9 model_runner_kv_cache_mixin.py; 0.5.18 to 0.5.23
srt/mem_cache/kv_cache_configurator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from preflight.engines.sglang.conditions import KNOB as KNOB
from preflight.engines.sglang.conditions import of_pools, safely, unbalanced
from preflight.engines.sglang.defaults import reserve_mib
from preflight.engines.sglang.kv import Pool, Size, pool
from preflight.engines.sglang.late import late_rows
from preflight.engines.sglang.load import Load, before_rows, free_before_load, load
from preflight.engines.sglang.mm_reserve import runtime_reserve
from preflight.engines.sglang.online import overridden
from preflight.engines.sglang.requests import Requests, requests, table_bytes
from preflight.engines.steps import State, Unknown
from preflight.memory.budget import KV_SIZING, Budget, Condition, Knob, LedgerRow
from preflight.memory.range import Range, exactly, total
from preflight.records import NamedTuple
from preflight.units import MIB, round_down, round_up

if TYPE_CHECKING:
    from preflight.engines.base import Launch

T = TypeVar("T")
_FROM_REST = "taken from the rest"


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


class _Sized(NamedTuple):
    """The pools at each figure of the rest."""

    tokens: Range
    expected: Size


def budget(launch: Launch) -> Budget:
    """The ledger of one launch; figures that need an unknown input are None and named in `missing`."""
    s = state_of(launch)
    missing: list[str] = []
    if _ask(lambda: overridden(s), []) is not False:
        missing.append("the model's geometry, which json-model-override-args changes")
        launch = launch._replace(model=None)
    seen, model = launch.observed, launch.model
    size = launch.hardware.memory if launch.hardware else None
    physical = None if size is None else exactly(size)
    before = seen.free_before_load or _ask(lambda: free_before_load(s, launch, missing), missing)
    loaded = _ask(lambda: load(s, launch, missing), missing) or Load(None, None, [])
    fraction = _ask(lambda: float(s.mem_fraction_static), missing)
    kv_pool = None if model is None else _ask(lambda: pool(s, model), missing)
    further = runtime_reserve(s)
    after = seen.free_after_load
    if after is None and before is not None and loaded.total is not None:
        after = before.minus(loaded.total)
    rest = _rest(fraction, before, after, loaded, observed=seen.free_after_load is not None)
    rest = None if rest is None else rest.shifted(-further)
    sized = None if rest is None or kv_pool is None else _sized(kv_pool, rest)
    context = _context_length(s, launch)
    served = _served(s, kv_pool, rest, context)
    tokens = None if sized is None else sized.tokens
    table = None if kv_pool is None else _ask(lambda: _table(s, kv_pool, rest, context), [])
    late = late_rows(s, launch, kv_pool, tokens, table)
    late_total = total([row.bytes for row in late]) if late and kv_pool is not None else None
    headroom = _headroom(fraction, before, after, rest, sized, kv_pool)
    return Budget(
        knob=_knob(launch, s, fraction, before, after, further, kv_pool, late_total),
        total=physical,
        free_before_load=before,
        weights=_weights(launch, before, after, loaded),
        draft_weights=loaded.draft,
        free_after_load=after,
        reserved=None if before is None or fraction is None else before.times(1 - fraction),
        rest=rest,
        kv_cache=None if sized is None or kv_pool is None else sized.tokens.times(kv_pool.cell),
        graphs=next((row.bytes for row in late if row.name == "CUDA graphs"), None),
        rows=(*before_rows(before, physical), *loaded.rows, *_sizing_rows(further, sized, kv_pool), *late),
        bytes_per_token=kv_pool.cell if kv_pool else None,
        page_tokens=kv_pool.page if kv_pool else 1,
        tokens=tokens,
        context_length=context,
        late=late_total,
        headroom=headroom,
        window_tokens=None if sized is None else sized.expected.window_tokens,
        states=None if sized is None else sized.expected.states,
        state_bytes=None if sized is None else sized.expected.state_bytes,
        requests=served["expected"].served if "expected" in served else None,
        conditions=_conditions(s, launch, kv_pool, rest, served),
        missing=tuple(dict.fromkeys(missing)),
    )


def _ask(question: Callable[[], T], missing: list[str]) -> T | None:
    """The answer, or None with what is missing noted."""
    try:
        return question()
    except Unknown as unknown:
        missing.append(str(unknown))
        return None


def _sized(kv_pool: Pool, rest: Range) -> _Sized:
    """Tokens at each figure; the proved bounds allow for the sawtooth of a state pool."""
    slack = 0.0 if kv_pool.states is None else kv_pool.states.slack
    lowest = kv_pool.size(rest.floor - slack)
    low, middle, high = (kv_pool.size(value) for value in (rest.low, rest.expected, rest.high))
    tokens = Range(lowest.tokens, low.tokens, middle.tokens, high.tokens, kv_pool.most_tokens(rest.ceil)).ordered()
    return _Sized(tokens, middle)


def _weights(launch: Launch, before: Range | None, after: Range | None, loaded: Load) -> Range | None:
    """What loading took: the difference of two measurements where there are two."""
    if launch.observed.free_after_load is None or before is None or after is None:
        return loaded.weights
    used = before.minus(after)
    return used if loaded.draft is None else used.minus(loaded.draft)


def _rest(fraction: float | None, before: Range | None, after: Range | None, loaded: Load, *, observed: bool) -> Range | None:
    """After loading less the reserve. Where nothing was measured, both terms hang on the same free memory, so it counts once."""
    if fraction is None or before is None:
        return None
    if observed and after is not None:
        return after.minus(before.times(1 - fraction))
    if loaded.total is None:
        return None
    return before.times(fraction).minus(loaded.total)


def _headroom(
    fraction: float | None,
    before: Range | None,
    after: Range | None,
    rest: Range | None,
    sized: _Sized | None,
    kv_pool: Pool | None,
) -> Range | None:
    """What is left for late consumers: the reserve, and what a bound on the tokens keeps the pools from taking."""
    if before is None or fraction is None:
        return None
    reserve = before.times(1 - fraction)
    if kv_pool is None or kv_pool.limit is None or rest is None or sized is None or after is None:
        return reserve
    taken = sized.tokens.expected * kv_pool.cell + sized.expected.state_bytes + kv_pool.taken_first
    unused = max(rest.expected - taken, 0.0)
    room = reserve.shifted(unused)
    return room._replace(floor=reserve.floor, ceil=max(after.ceil, room.expected)).ordered()


def _context_length(s: State, launch: Launch) -> int | None:
    try:
        length = s.context_length
    except Unknown:
        return None
    if length is None and launch.model is not None:
        length = launch.model.context_length
    return int(length) if length else None


def _served(s: State, kv_pool: Pool | None, rest: Range | None, context: int | None) -> dict[str, Requests]:
    """Requests at the expected tokens, and at the most that can be."""
    if kv_pool is None or rest is None or context is None:
        return {}
    try:
        most = kv_pool.size(rest.ceil)
        most = most._replace(tokens=kv_pool.most_tokens(rest.ceil))
        return {
            "expected": requests(s, kv_pool, kv_pool.size(rest.expected), context),
            "most": requests(s, kv_pool, most, context),
        }
    except Unknown:
        return {}


def _table(s: State, kv_pool: Pool, rest: Range | None, context: int | None) -> Range | None:
    """The request table at each figure of the rest; a larger pool never has fewer rows."""
    if rest is None or context is None:
        return None
    sizes = [kv_pool.size(value) for value in rest]
    rows = [requests(s, kv_pool, size, context).rows for size in sizes]
    return Range(*(float(table_bytes(s, count, context)) for count in rows)).ordered()


def _sizing_rows(further: float, sized: _Sized | None, kv_pool: Pool | None) -> list[LedgerRow]:
    rows = []
    if further:
        rows.append(LedgerRow("multimodal reserve", KV_SIZING, exactly(further), "kv_cache_configurator.py"))
    if sized is not None and sized.expected.states is not None:
        name = f"{sized.expected.states:,} states of linear layers"
        rows.append(LedgerRow(name, KV_SIZING, exactly(sized.expected.state_bytes), _FROM_REST, of_rest=True))
    if kv_pool is not None and kv_pool.taken_first:
        rows.append(LedgerRow("pools sized by requests", KV_SIZING, exactly(kv_pool.taken_first), _FROM_REST, of_rest=True))
    return rows


def _conditions(
    s: State, launch: Launch, kv_pool: Pool | None, rest: Range | None, served: dict[str, Requests]
) -> tuple[Condition, ...]:
    seen = launch.observed.free_before_load
    slack = 0.0 if seen is None else seen.expected - seen.floor
    found = safely(unbalanced(s, launch.tables.get("observed", {}), slack))
    if kv_pool is None or rest is None:
        return found
    return found + safely(of_pools(s, kv_pool, rest, served))


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
    page = kv_pool.least_rest() if kv_pool else 1
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
    highest = None if late is None else round_down(1 - late.expected / before.expected, 3)
    return knob._replace(minimum=minimum, suggested=suggested, highest=highest)
