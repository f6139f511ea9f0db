"""What is taken before KV sizing: context and communicators, weights, draft weights (facts: sglang-memory §1.1, §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflight.engines.sglang import overheads
from preflight.engines.sglang.facts import (
    DRAFT_COUNTED,
    algorithm,
    at_least,
    attention_dp,
    dp_attention,
    layer_partition,
    pipeline,
    ranks,
)
from preflight.engines.sglang.online import as_loaded
from preflight.engines.steps import State, Unknown
from preflight.memory.budget import BEFORE_LOAD, LOAD, LedgerRow
from preflight.memory.range import INFINITE, Range
from preflight.model.types import Parallel
from preflight.model.weights import WeightRow, weight_rows
from preflight.records import NamedTuple

if TYPE_CHECKING:
    from preflight.engines.base import Launch
    from preflight.model.types import Model

LEAST_CUDA_SHARE = 0.93
"""CUDA's total is a little less than nvidia-smi's; one much smaller belongs to another card than the memory that was given."""
_WITHOUT_WEIGHTS = ("NGRAM",)
_SHARED_LATER = ("embedding", "lm_head")


class Load(NamedTuple):
    """Target and draft weights, each with what loading leaves behind; None where unknown (draft: or not counted)."""

    weights: Range | None
    draft: Range | None
    rows: list[LedgerRow]

    @property
    def total(self) -> Range | None:
        if self.weights is None or self.draft is None:
            return self.weights
        return self.weights.plus(self.draft)


def parallel(s: State) -> Parallel:
    replicas = attention_dp(s) if dp_attention(s) else 1
    return Parallel(
        tp=int(s.tp_size or 1),
        pp=pipeline(s),
        attn_dp=replicas,
        ep=int(s.ep_size or 1),
        moe_dense_tp=s.moe_dense_tp_size,
        attn_cp=int(s.attn_cp_size or 1),
        dp_lm_head=bool(s.enable_dp_lm_head),
        shared_experts_replicated=s.moe_a2a_backend not in (None, "none") or bool(s.enable_deepep_moe),
        vision_replicated=bool(s.mm_enable_dp_encoder),
        redundant_experts=int(s.ep_num_redundant_experts or 0),
        layer_partition=layer_partition(s),
    )


def free_before_load(s: State, launch: Launch, missing: list[str]) -> Range | None:
    """The card's memory less context and communicators; proved is only that it is no more than the card has."""
    hardware = launch.hardware
    if hardware is None or hardware.memory is None:
        missing.append("GPU memory")
        return None
    total = float(hardware.memory)
    ceiling = total
    if hardware.memory_cuda is not None and hardware.memory_cuda > LEAST_CUDA_SHARE * total:
        ceiling = min(float(hardware.memory_cuda), total)
    if hardware.interconnect == "unified":
        low, expected, high = overheads.unified(total)
    else:
        low, expected, high = overheads.before_load(total, None if ceiling == total else ceiling, ranks(s), hardware.interconnect)
    return Range(0, total - high, total - expected, total - low, ceiling).ordered()


def before_rows(before: Range | None, physical: Range | None) -> list[LedgerRow]:
    if before is None or physical is None:
        return []
    taken = physical.minus(before).at_least(0)
    return [LedgerRow("context and communicators", BEFORE_LOAD, taken, "total less free before load")]


def load(s: State, launch: Launch, missing: list[str]) -> Load:
    """Measured figures replace the estimate."""
    seen = launch.observed
    if seen.free_before_load is not None and seen.free_after_load is not None:
        used = seen.free_before_load.minus(seen.free_after_load)
        return Load(used, None, [LedgerRow("weights and load leftovers", LOAD, used, "observed")])
    draft = _draft(s, launch, missing)
    draft_rows = [] if draft is None else [LedgerRow("draft weights", LOAD, draft, "draft model")]
    if seen.weights is not None:
        return Load(seen.weights, draft, [LedgerRow("weights", LOAD, seen.weights, "observed"), *draft_rows])
    if launch.model is None:
        missing.append("the model")
        return Load(None, draft, draft_rows)
    if s.enable_lora or s.lora_paths:
        missing.append("the buffers of LoRA adapters")
    if (s.cpu_offload_gb or 0) > 0 or s.kt_weight_path or s.kt_num_gpu_experts is not None or (s.offload_group_size or 0) > 0:
        missing.append("which weights are offloaded to the host")
        return Load(None, draft, draft_rows)
    try:
        model = as_loaded(s, launch.model)
    except Unknown as unknown:
        missing.append(str(unknown))
        return Load(None, draft, draft_rows)
    parts = weight_rows(model, parallel(s), "sglang", compute_capability=s.gpu.known("compute_capability"))
    if parts is None:
        missing.append("the model's weights")
        return Load(None, draft, draft_rows)
    tables = weight_rows(model, parallel(s), "sglang", "buffers") or ()
    rows = [_ledger_row(part) for part in (*parts, *tables)]
    expected = sum(part.bytes_expected for part in (*parts, *tables))
    floor = sum(part.bytes_floor for part in parts)
    low, middle, high = overheads.load_leftover(expected)
    rows.append(LedgerRow("load leftovers", LOAD, Range(min(0.0, low), low, middle, high, INFINITE), "estimate"))
    ceiling = float(launch.hardware.memory) if launch.hardware and launch.hardware.memory else INFINITE
    weights = Range(floor, expected + low, expected + middle, expected + high, max(ceiling, expected + high)).ordered()
    return Load(weights, draft, [*rows, *draft_rows])


def _ledger_row(part: WeightRow) -> LedgerRow:
    floor, expected = float(part.bytes_floor), float(part.bytes_expected)
    return LedgerRow(part.name, LOAD, Range(floor, expected, expected, expected, max(floor, expected)), part.rule)


def _draft(s: State, launch: Launch, missing: list[str]) -> Range | None:
    """counted before KV sizing from 0.5.14 on; before that they load after it (late.py)."""
    if launch.observed.draft_weights is not None:
        return launch.observed.draft_weights
    return draft_weights(s, launch, missing) if at_least(s, DRAFT_COUNTED) else None


def draft_weights(s: State, launch: Launch, missing: list[str]) -> Range | None:
    """Weights of the draft model on the fullest rank; the target's own prediction layers where it drafts itself.

    Such a draft allocates an embedding and a head of its own, and shares the target's only when its pool is allocated: from
    0.5.15 on they are there when the KV cache is sized (srt/speculative/eagle_worker_v2.py).
    """
    name = algorithm(s)
    if name is None or name in _WITHOUT_WEIGHTS:
        return None
    draft: Model | None = launch.draft
    same = draft is None or (launch.model is not None and draft.name == launch.model.name)
    source = launch.model if same else draft
    layout = parallel(s)
    try:
        source = None if source is None else as_loaded(s, source)
    except Unknown:
        source = None
    parts = None if source is None else weight_rows(source, layout, "sglang", "mtp" if same else "target")
    if not parts or source is None:
        missing.append("the draft model's weights")
        return _guessed_draft(s, launch)
    expected, floor = sum(part.bytes_expected for part in parts), sum(part.bytes_floor for part in parts)
    if same and at_least(s, DRAFT_COUNTED):
        own = weight_rows(source, layout, "sglang") or ()
        expected += sum(part.bytes_expected for part in own if part.name in _SHARED_LATER)
    spread = 0.1 * expected
    proved = 0 if s.speculative_draft_model_quantization not in (None, s.quantization) else min(floor, expected)
    return Range(proved, expected - spread, expected, expected + spread, INFINITE).ordered()


def _guessed_draft(s: State, launch: Launch) -> Range | None:
    """A draft of the EAGLE family whose size is not known: an average layer of the target, an embedding and a head.

    With several layers that each draft one token, every one has an embedding and a head of its own until they are shared.
    """
    if algorithm(s) == "STANDALONE" or launch.model is None or not launch.model.layers:
        return None
    parts = weight_rows(launch.model, parallel(s), "sglang") or ()
    own = sum(part.bytes_expected for part in parts if part.name in _SHARED_LATER)
    layer = (sum(part.bytes_expected for part in parts) - own) / launch.model.layers
    copies = int(s.speculative_num_steps or 1) if s.enable_multi_layer_eagle else 1
    expected = layer + own * (copies if at_least(s, DRAFT_COUNTED) else 0)
    return Range(0, 0.4 * expected, expected, 1.6 * expected, INFINITE) if expected else None
