"""KV cache bytes per token, and how many tokens a rest of memory holds (facts: sglang-memory §1.4, §3).

0.4.6 to 0.5.5 srt/model_executor/model_runner.py; 0.5.8 and 0.5.9 model_runner_kv_cache_mixin.py; 0.5.12 to 0.5.23
srt/model_executor/pool_configurator.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from preflight.engines.sglang.facts import at_least, attention_dp, dp_attention, eagle_family
from preflight.engines.steps import State, Unknown
from preflight.model.kv import index_bytes, storing_layers, token_elements
from preflight.model.weights import stage_layers

if TYPE_CHECKING:
    from preflight.model.types import Model

_ELEMENT_BYTES = {
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "bf16": 2,
    "bfloat16": 2,
    "fp16": 2,
    "half": 2,
    "float16": 2,
    "fp32": 4,
    "float32": 4,
}


class Pool(NamedTuple):
    """`cell` bytes per token on the fullest rank; `page` tokens per page; `limit` the user's own upper bound in tokens."""

    cell: int
    page: int
    limit: int | None = None

    def tokens(self, rest: float) -> int:
        """Token slots in `rest` bytes, never below 0."""
        slots = int(rest // self.cell) if rest > 0 else 0
        if self.limit is not None:
            slots = min(slots, self.limit)
        return slots // self.page * self.page


def element_bytes(s: State) -> int:
    """Bytes per stored element. Raises Unknown for a format that is not counted here."""
    name = s.kv_cache_dtype or "auto"
    if name == "auto":
        name = s.model.known("kv_cache_dtype") or s.dtype or "auto"
    if name == "auto":
        name = s.model.dtype
    size = _ELEMENT_BYTES.get(str(name))
    if size is None:
        raise Unknown(f"bytes per element of KV cache dtype {name}")
    return size


def attention_tp(s: State) -> int:
    replicas = attention_dp(s) if dp_attention(s) else 1
    return max(1, int(s.tp_size) // (replicas * int(s.attn_cp_size or 1)))


def fullest_stage(s: State, model: Model) -> range:
    layers = model.layers
    if layers is None:
        raise Unknown("layers of the model")
    return max(stage_layers(layers, int(s.pp_size), "sglang"), key=len)


def pool(s: State, model: Model) -> Pool:
    """Raises Unknown, naming what is missing."""
    if model.attention is None:
        raise Unknown("the model's attention layers")
    stage, size, tp = fullest_stage(s, model), element_bytes(s), attention_tp(s)
    cell = 0
    for group in model.attention:
        if group.kind not in ("gqa", "mla"):
            raise Unknown(f"the pool of {group.kind} attention layers")
        elements = token_elements(group, tp)
        if elements is None:
            raise Unknown("KV heads or head dimension of the model")
        cell += storing_layers(group, stage) * (elements * size + index_bytes(group))
    if at_least(s, "0.5.15") and eagle_family(s):
        cell = int(cell * (1 + draft_layers(s) / len(stage)))
    limit = s.max_total_tokens
    return Pool(cell, int(s.page_size or 1), None if limit is None else int(limit))


def draft_layers(s: State) -> int:
    """Layers of the draft model that hold KV cache."""
    draft = s.draft.known("layers")
    if draft is not None:
        return int(draft)
    layers = s.model.known("mtp_layers")
    if layers and not s.given("speculative-draft-model-path"):
        return int(layers)
    raise Unknown("layers of the draft model")
