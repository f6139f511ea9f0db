"""What SGLang refuses or warns of once its pools are sized (facts: sglang-memory §7).

Each is decided on the pools at three rests: the expected one, and both proved bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from preflight.engines.sglang.facts import at_least, dp_attention
from preflight.engines.sglang.kv import Pool, Size
from preflight.engines.sglang.requests import Requests
from preflight.engines.steps import State, Unknown
from preflight.memory.budget import LIMIT, NO_REQUEST, REQUESTS_CUT, STATE_POOL, UNBALANCED, WINDOW_POOL, Condition
from preflight.memory.range import Range
from preflight.units import gib

if TYPE_CHECKING:
    from preflight.launch import Table

KNOB = "mem-fraction-static"
_LEAST_SHARE = 0.9
"""A rank with less than this share of another's free memory stops the start."""


def unbalanced(s: State, observed: Table, slack: float) -> Iterator[Condition]:
    """Before loading, each rank compares the least free memory of all with its own."""
    located = observed.get("free-before-load")
    values = located.value if located is not None and isinstance(located.value, list | tuple) else ()
    amounts = [float(value) for value in values if isinstance(value, int | float)]
    if len(amounts) < 2 or int(s.tp_size or 1) < 2:
        return
    least, most = min(amounts), max(amounts)
    refuses = s.flag("SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK", default=True) if at_least(s, "0.5.8") else True
    if not at_least(s, "0.5.8") and s.env("SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK"):
        refuses = False
    yield Condition(
        UNBALANCED,
        KNOB,
        f"The ranks have between {gib(least)} and {gib(most)} free before loading; less than 90 % of another's is refused.",
        "End the process that occupies the fuller GPU, or leave that GPU out: the memory fraction does not help.",
        least < _LEAST_SHARE * most,
        least + slack < _LEAST_SHARE * (most - slack),
        fatal=refuses,
        stage="init",
    )


def of_pools(s: State, pool: Pool, rest: Range, served: Mapping[str, Requests]) -> Iterator[Condition]:
    """`served` holds the requests at the `expected` and the `most` tokens."""
    expected, most = pool.size(rest.expected), pool.size(rest.ceil)
    if rest.expected < pool.cell * pool.page:
        return
    yield from _window(s, pool, expected, most, rest)
    yield from _states(s, pool, expected, most, rest)
    yield from _none_served(s, pool, served, (expected.tokens, pool.most_tokens(rest.ceil)))
    yield from _limit(pool, expected, rest)
    yield from _cut(s, served)


def _window(s: State, pool: Pool, expected: Size, most: Size, rest: Range) -> Iterator[Condition]:
    plan = pool.sliding
    if plan is None or plan.window is None:
        return
    if plan.cap is not None:
        yield Condition(
            WINDOW_POOL,
            "max-running-requests",
            f"The sliding-window pool of {plan.cap:,} tokens for the given number of requests takes {gib(plan.fixed)} of "
            f"{gib(rest.expected)}, and leaves nothing for the full pool.",
            "Lower max-running-requests or SGLANG_SWA_EVICTION_INTERVAL, or raise mem-fraction-static.",
            expected.tokens == 0,
            most.tokens == 0,
        )
    elif at_least(s, "0.5.18") and plan.full:
        floor = plan.window + pool.page
        yield Condition(
            WINDOW_POOL,
            KNOB,
            f"The sliding-window pool holds {expected.window_tokens or 0:,} tokens, but one request needs more than "
            f"{floor:,} (window and page).",
            "Raise mem-fraction-static or swa-full-tokens-ratio.",
            (expected.window_tokens or 0) <= floor,
            (most.window_tokens or 0) <= floor,
        )


def _states(s: State, pool: Pool, expected: Size, most: Size, rest: Range) -> Iterator[Condition]:
    plan = pool.states
    if plan is None or expected.states is None:
        return
    at = "max-running-requests" if s.given("max-running-requests") else KNOB
    if plan.draft:
        remedy = "Lower max-running-requests or speculative-num-draft-tokens, or raise mem-fraction-static."
    else:
        remedy = "Lower max-running-requests, or raise mem-fraction-static."
    if expected.states >= plan.per_request and expected.tokens == 0:
        yield Condition(
            STATE_POOL,
            at,
            f"The state pool takes {gib(expected.state_bytes)} for {expected.states:,} states of {gib(plan.each)}, and leaves "
            f"nothing of {gib(rest.expected)} for the KV cache.",
            remedy,
            True,
            pool.most_tokens(rest.ceil) == 0,
        )
        return
    needed = f"{plan.per_request} for one request" if plan.per_request > 1 else "one for each request"
    yield Condition(
        STATE_POOL,
        at,
        f"The {gib(rest.expected)} left hold {expected.states:,} states of {gib(plan.each)}, fewer than the {needed}.",
        remedy,
        expected.states < plan.per_request,
        (most.states or 0) < plan.per_request,
    )


def _none_served(s: State, pool: Pool, served: Mapping[str, Requests], tokens: tuple[int, int]) -> Iterator[Condition]:
    expected, most = served.get("expected"), served.get("most")
    if expected is None or most is None:
        return
    if expected.asked == 0:
        replicas = int(s.dp_size or 1)
        yield Condition(
            NO_REQUEST,
            "max-running-requests",
            f"max-running-requests {int(s.max_running_requests):,} divided among {replicas} data-parallel workers is 0, and the "
            "engine refuses to serve none.",
            f"Raise it to at least {replicas}.",
            True,
            s.given("max-running-requests") and (dp_attention(s) or at_least(s, "0.5.9")),
            value=replicas,
        )
        return
    least = 7 if not at_least(s, "0.5.15") else 2
    yield Condition(
        NO_REQUEST,
        "max-total-tokens" if pool.limit is not None and pool.limit < least else KNOB,
        f"The KV cache holds {tokens[0]:,} tokens, too few for a single request: {least} are the least.",
        "Raise max-total-tokens." if pool.limit is not None and pool.limit < least else "Raise mem-fraction-static.",
        0 < tokens[0] < least or (tokens[0] > 0 and expected.served == 0 and pool.states is None),
        0 < tokens[1] < least,
    )


def _limit(pool: Pool, expected: Size, rest: Range) -> Iterator[Condition]:
    if pool.limit is None or pool.sliding is not None:
        return
    free = pool._replace(limit=None)
    holds = free.size(rest.expected).tokens
    yield Condition(
        LIMIT,
        "max-total-tokens",
        f"max-total-tokens {pool.limit:,} is more than the {holds:,} tokens that fit, so the engine takes what fits.",
        "Lower it, or take it out.",
        0 < holds < pool.limit,
        pool.limit > free.most_tokens(rest.ceil),
        fatal=False,
        value=None,
        data=(("limit", pool.limit), ("tokens", holds)),
    )


def _cut(s: State, served: Mapping[str, Requests]) -> Iterator[Condition]:
    expected, most = served.get("expected"), served.get("most")
    if expected is None or most is None or expected.asked is None or not s.given("max-running-requests"):
        return
    if not 0 < expected.served < expected.asked:
        return
    per = " per worker" if expected.asked != s.max_running_requests else ""
    cause = "the state pool" if expected.by_states else "the KV cache"
    if at_least(s, "0.5.10") and not at_least(s, "0.5.15") and not expected.by_states:
        cause = "the engine's own bound for this context length"
    remedy = "Raise mamba-full-memory-ratio or max-mamba-cache-size" if expected.by_states else "Raise mem-fraction-static"
    yield Condition(
        REQUESTS_CUT,
        "max-running-requests",
        f"max-running-requests {expected.asked:,}{per} is cut to {expected.served:,} by {cause}.",
        f"{remedy}, or lower it to what runs.",
        True,
        most.served < expected.asked,
        fatal=False,
        data=(("asked", expected.asked), ("served", expected.served)),
    )


def safely(conditions: Iterator[Condition]) -> tuple[Condition, ...]:
    """As many as can be decided: an unknown input silences what hangs on it."""
    found: list[Condition] = []
    try:
        found.extend(condition for condition in conditions if condition.likely or condition.proven)
    except Unknown:
        return tuple(found)
    return tuple(found)
