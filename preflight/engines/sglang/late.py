"""What SGLang allocates after KV sizing, outside the static budget (facts: sglang-memory §1.7, §4).

A row's floor is what the source proves to be allocated; its ceil is infinite where nothing bounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from preflight.engines.sglang import overheads
from preflight.engines.sglang.facts import (
    DRAFT_COUNTED,
    algorithm,
    at_least,
    decode_graph_enabled,
    dp_attention,
    multimodal,
    prefill_graph_enabled,
)
from preflight.engines.sglang.fusion import fusion_bytes
from preflight.engines.sglang.kv import Pool, attention_tp, charged_layers
from preflight.engines.steps import State, Unknown
from preflight.memory.budget import LATE, LedgerRow
from preflight.memory.range import INFINITE, Range, exactly
from preflight.model.kv import token_elements
from preflight.units import GIB, MIB

if TYPE_CHECKING:
    from preflight.engines.base import Launch
    from preflight.model.types import Model


def estimated(three: overheads.Three) -> Range:
    return Range(0, *three, INFINITE)


def likely(size: float) -> Range:
    """A size that the source gives, where the allocation itself may be skipped."""
    return Range(0, size, size, size, INFINITE)


def late_rows(s: State, launch: Launch, pool: Pool | None, tokens: Range | None, table: Range | None) -> list[LedgerRow]:
    """All consumers that can be told; one whose inputs are unknown is left out."""
    parts: tuple[Callable[[], Iterator[LedgerRow]], ...] = (
        lambda: _table(table),
        lambda: _pool_rows(s, pool, tokens),
        lambda: _workspace(s),
        lambda: _graphs(s),
        lambda: _communication(s),
        lambda: _draft_kv(s, launch, tokens),
        lambda: _activations(s, launch.model),
        lambda: _multimodal(s, launch.model),
    )
    rows = []
    for part in parts:
        try:
            rows += list(part())
        except Unknown:
            continue
    return rows


def _table(table: Range | None) -> Iterator[LedgerRow]:
    if table is not None:
        yield LedgerRow("request table", LATE, table, "srt/mem_cache/memory_pool.py ReqToTokenPool")


def _pool_rows(s: State, pool: Pool | None, tokens: Range | None) -> Iterator[LedgerRow]:
    if pool is None:
        return
    yield LedgerRow("page padding", LATE, exactly(pool.cell * pool.page), "srt/mem_cache/memory_pool.py")
    if pool.states is not None and not at_least(s, "0.5.18"):
        padding = pool.states.each * (1 + pool.states.draft)
        yield LedgerRow("state padding", LATE, exactly(padding), "srt/mem_cache/memory_pool.py")
    if pool.stored is not None and tokens is not None:
        more = tokens.times(pool.stored - pool.cell)
        yield LedgerRow("sparse attention overdraw", LATE, more, "srt/mem_cache/memory_pool.py, scaled FP8 layout")


def _workspace(s: State) -> Iterator[LedgerRow]:
    backend = s.attention_backend
    size = {
        "flashinfer": _flashinfer_workspace(s),
        "trtllm_mla": (150 if at_least(s, "0.5.8") else 128) * MIB,
        "trtllm_mha": 512 * MIB,
        "fa3": 32 * MIB,
        "flashmla": 64 * MIB,
        "triton": 128 * MIB,
    }.get(str(backend), 256 * MIB)
    yield LedgerRow("attention workspace", LATE, Range(0, size, size, 1.5 * size, INFINITE), "srt/layers/attention")
    yield LedgerRow("kernel workspaces and modules", LATE, estimated(overheads.kernels()), "estimate")


def _flashinfer_workspace(s: State) -> float:
    if s.enable_deterministic_inference:
        return 2 * GIB
    given = s.env("SGLANG_FLASHINFER_WORKSPACE_SIZE")
    if given is not None and given.strip().isdigit():
        return float(given)
    wide = ("Qwen2", "Qwen3", "MiMo")
    return 512.0 * MIB if str(s.model.known("architecture")).startswith(wide) else 384.0 * MIB


def _graphs(s: State) -> Iterator[LedgerRow]:
    if decode_graph_enabled(s) and s.disaggregation_mode != "prefill":
        batch = graph_batch(s)
        yield LedgerRow("CUDA graphs", LATE, estimated(overheads.decode_graphs(batch)), "estimate by batch size")
    if prefill_graph_enabled(s):
        yield LedgerRow("prefill graphs", LATE, estimated(overheads.prefill_graphs()), "estimate")


def graph_batch(s: State) -> int:
    """The largest batch that decode graphs are captured for."""
    sizes = s.cuda_graph_bs
    numbers = [size for size in sizes if isinstance(size, int)] if isinstance(sizes, list | tuple) else []
    if numbers:
        return max(numbers)
    batch = s.cuda_graph_max_bs
    return int(batch) if batch is not None else 160


def _communication(s: State) -> Iterator[LedgerRow]:
    fused = fusion_bytes(s)
    if fused:
        yield LedgerRow("all-reduce fusion workspace", LATE, likely(fused), "srt/layers/flashinfer_comm_fusion.py")
    if s.enable_symm_mem and at_least(s, "0.5.9"):
        size = _symmetric_gib(s) * GIB
        yield LedgerRow("symmetric memory", LATE, exactly(size), "model_runner.py prealloc_symmetric_memory_pool")
    if s.moe_a2a_backend == "deepep":
        yield LedgerRow("DeepEP buffers", LATE, estimated(overheads.all_to_all()), "srt/layers/moe/token_dispatcher/deepep.py")
    if dp_attention(s):
        hidden = s.model.hidden_size
        size = int(s.chunked_prefill_size or 8192) * int(s.dp_size or 1) * hidden * 2
        row = Range(0, size / 4, size, 2 * size, INFINITE)
        yield LedgerRow("gathered tokens of all replicas", LATE, row, "srt/layers/dp_attention.py")


def _symmetric_gib(s: State) -> int:
    value = s.env("SGLANG_SYMM_MEM_PREALLOC_GB_SIZE")
    if value is None:
        return 4
    try:
        return max(0, int(value))
    except ValueError:
        return 4


def _draft_kv(s: State, launch: Launch, tokens: Range | None) -> Iterator[LedgerRow]:
    """Up to 0.5.12 a draft loads after the target's pool has been sized; its cache comes late wherever it is not charged."""
    from preflight.engines.sglang.load import draft_weights

    if algorithm(s) in (None, "NGRAM") or charged_layers(s):
        return
    weights = None if at_least(s, DRAFT_COUNTED) else launch.observed.draft_weights or draft_weights(s, launch, [])
    if weights is not None:
        yield LedgerRow("draft weights", LATE, weights, "loaded after the KV cache is sized")
    cell = _draft_cell(s, launch)
    if cell and tokens is not None:
        yield LedgerRow("draft KV cache", LATE, tokens.times(cell), "one slot for each of the target's")


def _draft_cell(s: State, launch: Launch) -> float:
    """Bytes per token of all layers of the draft, in its own geometry."""
    from preflight.engines.sglang.kv import element_bytes

    own, size = attention_tp(s), element_bytes(s)
    draft = launch.draft
    if draft is not None and draft.attention is not None and (launch.model is None or draft.name != launch.model.name):
        return float(sum((token_elements(group, own) or 0) * len(group.layers) * size for group in draft.attention))
    model = launch.model
    if model is None or not model.attention or not model.mtp_layers:
        return 0.0
    widest = max((token_elements(group, own) or 0 for group in model.attention), default=0)
    return float(widest * model.mtp_layers * size)


def _activations(s: State, model: Model | None) -> Iterator[LedgerRow]:
    """The widest layer's intermediate values for one chunk, and the logits of one batch, in two and four bytes."""
    if model is None or model.hidden_size is None:
        return
    if s.disaggregation_mode == "decode":
        tokens = graph_batch(s)
    else:
        chunk = s.chunked_prefill_size
        tokens = int(chunk) if chunk and chunk > 0 else int(s.max_prefill_tokens or 16384)
    ranks = int(s.tp_size or 1)
    width = 12 * model.hidden_size / ranks
    if model.moe_intermediate_size and model.experts_per_token:
        routed = model.experts_per_token * (3 * model.moe_intermediate_size / ranks + model.hidden_size)
        width = max(width, routed)
    size = tokens * 2 * (8 * model.hidden_size + width) + graph_batch(s) * (model.vocab_size or 0) * 8
    yield LedgerRow(
        "activations", LATE, estimated(overheads.activations(tokens, model.hidden_size, size)), "estimate by geometry and chunk"
    )


def _multimodal(s: State, model: Model | None) -> Iterator[LedgerRow]:
    if model is None or model.vision is None or not multimodal(s):
        return
    yield LedgerRow("vision encoder", LATE, estimated(overheads.vision()), "estimate")
    if not at_least(s, "0.5.18"):
        yield LedgerRow("embedding cache", LATE, likely(100 * MIB), "SGLANG_VLM_CACHE_SIZE_MB")
