"""How many requests run at once, and the table that maps them to tokens (facts: sglang-memory §1.7).

0.4.6 to 0.5.9 srt/model_executor/model_runner.py and model_runner_kv_cache_mixin.py; 0.5.10 to 0.5.23 `_resolve_max_num_reqs`;
srt/managers/tp_worker.py; the table in srt/mem_cache/memory_pool.py ReqToTokenPool.
"""

from __future__ import annotations

from preflight.engines.sglang.facts import algorithm, at_least, attention_dp, dp_attention
from preflight.engines.sglang.kv import Pool, Size
from preflight.engines.sglang.states import DEFAULT_SPECULATIVE_REQUESTS
from preflight.engines.steps import State
from preflight.records import NamedTuple

LEAST_ROWS, MOST_ROWS = 2048, 4096


class Requests(NamedTuple):
    """Per worker: `asked` as given and divided among replicas (None: not given), `served` at once, `rows` of the table."""

    asked: int | None
    served: int
    rows: int
    by_states: bool = False
    """Whether the state pool is what bounds them."""


def requests(s: State, pool: Pool, size: Size, context: int) -> Requests:
    tokens = size.tokens
    estimate = min(max(int(tokens / context * 512), LEAST_ROWS), MOST_ROWS)
    given = s.max_running_requests
    if given is None and algorithm(s) is not None:
        given = DEFAULT_SPECULATIVE_REQUESTS
    asked = None if given is None else _per_worker(s, int(given))
    states = None if size.states is None or pool.states is None else size.states // pool.states.per_request
    if not at_least(s, "0.5.10"):
        rows = estimate if given is None else int(given)
        rows = rows if states is None else min(rows, states)
        served = min(tokens // 2 if asked is None else asked, rows)
    else:
        if asked is None:
            rows = min(estimate, tokens // 2)
        else:
            rows = min(asked, tokens // 2 if at_least(s, "0.5.15") else estimate)
        rows = rows if states is None else min(rows, states)
        served = rows
    return Requests(asked, max(served, 0), max(rows, 0), states is not None and states <= served)


def _per_worker(s: State, given: int) -> int:
    if at_least(s, "0.5.23"):
        return max(1, given // attention_dp(s)) if dp_attention(s) else max(1, given)
    if at_least(s, "0.5.9") or dp_attention(s):
        return given // max(1, int(s.dp_size or 1))
    return given


def table_bytes(s: State, rows: int, context: int) -> int:
    """One int32 per row and context position: 2,048 rows of a 262,144-token context are 2.0 GiB."""
    if s.disaggregation_mode == "decode":
        extra = s.disaggregation_decode_extra_slots if at_least(s, "0.5.15") else None
        rows += (2 * rows if rows <= 32 else 0) if extra is None else int(extra)
    extra_row = at_least(s, "0.5.12") or not at_least(s, "0.4.10")
    return (rows + extra_row) * (context + 4 + int(s.speculative_num_draft_tokens or 0)) * 4
