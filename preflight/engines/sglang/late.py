"""What SGLang allocates after KV sizing, outside the static budget (facts: sglang-memory §1.7, §4)."""

from __future__ import annotations

from preflight.engines.sglang import overheads
from preflight.engines.sglang.facts import algorithm, at_least, decode_graph_enabled
from preflight.engines.steps import State, Unknown
from preflight.memory.budget import LATE, LedgerRow
from preflight.memory.range import Range, exactly
from preflight.units import GIB


def _estimated(three: overheads.Three) -> Range:
    low, expected, high = three
    return Range(0, low, expected, high, max(high, 4 * expected))


def request_rows(s: State, tokens: int, context: int) -> int:
    """Rows of the request table: the user's number, or an estimate from the pool within 2048 and 4096."""
    estimate = min(max(int(tokens / context * 512), 2048), 4096)
    requests = s.max_running_requests
    if requests is None:
        return estimate
    replicas = max(1, int(s.dp_size or 1))
    if at_least(s, "0.5.10") and not at_least(s, "0.5.15"):
        return min(max(1, int(requests) // replicas), estimate)
    if at_least(s, "0.5.15"):
        return max(1, min(int(requests) // replicas, max(1, tokens // 2)))
    return int(requests)


def request_table(s: State, tokens: int, context: int) -> LedgerRow:
    """One int32 per row and context position: 2,048 rows of a 262,144-token context are 2.0 GiB."""
    rows = request_rows(s, tokens, context)
    extra_row = at_least(s, "0.5.12") or not at_least(s, "0.4.10")
    size = (rows + extra_row) * (context + 4 + int(s.speculative_num_draft_tokens or 0)) * 4
    return LedgerRow("request table", LATE, exactly(size), "srt/mem_cache/memory_pool.py ReqToTokenPool")


def late_rows(s: State, tokens: int | None, context: int | None, cell: int, page: int) -> list[LedgerRow]:
    rows = []
    if tokens is not None and context is not None:
        rows.append(request_table(s, tokens, context))
    rows.append(LedgerRow("page padding", LATE, exactly(cell * page), "srt/mem_cache/memory_pool.py"))
    rows.append(LedgerRow("attention workspace", LATE, _estimated(overheads.workspace()), "srt/layers/attention"))
    graphs = graph_row(s)
    if graphs is not None:
        rows.append(graphs)
    if s.enable_symm_mem and at_least(s, "0.5.9"):
        size = _symmetric_gib(s) * GIB
        rows.append(LedgerRow("symmetric memory", LATE, exactly(size), "model_runner.py prealloc_symmetric_memory_pool"))
    chunk = s.chunked_prefill_size
    step = chunk if chunk and chunk > 0 else int(s.max_prefill_tokens or 16384)
    if s.disaggregation_mode != "decode":
        row = _estimated(overheads.activations(int(step)))
        rows.append(LedgerRow("activations", LATE, row, "estimate per prefill token"))
    return rows


def _symmetric_gib(s: State) -> int:
    value = s.env("SGLANG_SYMM_MEM_PREALLOC_GB_SIZE")
    if value is None:
        return 4
    try:
        return max(0, int(value))
    except ValueError:
        return 4


def graph_row(s: State) -> LedgerRow | None:
    try:
        if not decode_graph_enabled(s) or s.disaggregation_mode == "prefill":
            return None
        batch = s.cuda_graph_max_bs
    except Unknown:
        batch = None
    if batch is None:
        batch = 160 if algorithm(s) is None else 64
    return LedgerRow("CUDA graphs", LATE, _estimated(overheads.decode_graphs(int(batch))), "estimate by batch size")
