"""KV cache bytes per token, and how many tokens a rest of memory holds (facts: sglang-memory §1.4, §3).

0.4.6 to 0.5.5 srt/model_executor/model_runner.py; 0.5.8 to 0.5.10 model_runner_kv_cache_mixin.py; 0.5.12 to 0.5.23
srt/model_executor/pool_configurator.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflight.engines.sglang.compressed import compressed_cell, fixed_bytes, is_compressed
from preflight.engines.sglang.facts import (
    DRAFT_COUNTED,
    algorithm,
    at_least,
    attention_dp,
    dp_attention,
    eagle_family,
    is_dsa,
    layer_partition,
    pipeline,
    sm_major,
)
from preflight.engines.sglang.sliding import Sliding, keeps_two_pools, ratio, request_cap
from preflight.engines.sglang.states import DEFAULT_SPECULATIVE_REQUESTS, States, states
from preflight.engines.steps import State, Unknown
from preflight.model.kv import index_bytes, storing_layers
from preflight.model.weights import stage_layers
from preflight.records import NamedTuple

if TYPE_CHECKING:
    from preflight.model.types import LayerGroup, Model

_ELEMENT_BYTES = {
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "mxfp8": 1,
    "fp4_e2m1": 1,
    "nvfp4": 1,
    "fp4_mx_block16": 1,
    "bf16": 2,
    "bfloat16": 2,
    "fp16": 2,
    "half": 2,
    "float16": 2,
    "fp32": 4,
    "float": 4,
    "float32": 4,
}
"""Four-bit formats count one byte here and are halved where their scales are added."""
_FOUR_BITS = ("fp4_e2m1", "nvfp4", "fp4_mx_block16")
_FAR = float(1 << 60)
"""More bytes than any machine has: where a rest is not bounded."""
_FP8_DSA_BYTES = 656
"""One token of scaled FP8 sparse attention: 512 values, their scales, and 64 rotary elements in bf16."""


_OWN_DRAFT = frozenset(
    {
        "DeepseekV32ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekV4ForCausalLM",
        "Glm4MoeForCausalLM",
        "Glm4MoeLiteForCausalLM",
        "GlmMoeDsaForCausalLM",
        "BailingMoeForCausalLM",
        "BailingMoeV2ForCausalLM",
        "BailingMoeV2_5ForCausalLM",
        "MistralLarge3ForCausalLM",
        "PixtralForConditionalGeneration",
        "HYV3ForCausalLM",
        "HYV4ForCausalLM",
        "Qwen4ExpForConditionalGeneration",
    }
)
"""Architectures whose draft path is the target's own unless it is given (srt/arg_groups/speculative_hook.py)."""


class Size(NamedTuple):
    """What the pools of one rank hold: `tokens` as the engine reports them, slots of the other pools, bytes of states."""

    tokens: int
    window_tokens: int | None = None
    states: int | None = None
    state_bytes: float = 0.0


class Pool(NamedTuple):
    """`cell` bytes per reported token on the fullest rank; `page` tokens per page; `limit` the user's bound in tokens.

    `extra` tokens are added after sizing (drafts, up to 0.5.5); `stored` is what a token takes in truth.
    """

    cell: float
    page: int
    limit: int | None = None
    extra: int = 0
    states: States | None = None
    sliding: Sliding | None = None
    stored: float | None = None
    fixed: float = 0.0
    """Bytes that are taken first, whatever the tokens."""

    @property
    def taken_first(self) -> float:
        """Bytes of pools that do not hang on the tokens, states apart."""
        return self.fixed + (0.0 if self.sliding is None else self.sliding.fixed)

    def size(self, rest: float) -> Size:
        """The pools in `rest` bytes, nothing below 0."""
        rest = min(max(rest, -_FAR), _FAR)
        split = None if self.states is None else self.states.split(rest)
        left = (rest if split is None else split.rest) - self.taken_first
        slots = int(left // self.cell) + self.extra
        if self.limit is not None:
            slots = min(slots, self.limit)
        tokens = max(slots // self.page * self.page, 0)
        window = None if self.sliding is None else self.sliding.window_tokens(tokens, self.page)
        return Size(
            tokens,
            window,
            None if split is None else max(split.states, 0),
            0.0 if split is None else max(split.bytes, 0.0),
        )

    def tokens(self, rest: float) -> int:
        return self.size(rest).tokens

    def most_tokens(self, rest: float) -> int:
        """No rest up to `rest` gives more: one state fewer leaves its bytes to the KV cache."""
        slack = 0.0 if self.states is None else self.states.slack / self.cell
        most = int(self.size(rest).tokens + slack)
        return most if self.limit is None else min(most, self.limit)

    def least_rest(self) -> float:
        """The smallest rest in bytes that holds one page of tokens (and, for a hybrid, the states of one request)."""
        if self.states is None and self.sliding is None:
            page = self.page * self.cell + self.fixed
            if self._starts(page) and not self._starts(page - 1):
                return page
        low, high = 0.0, _FAR
        if not self._starts(high):
            return high
        while high - low > 1:
            middle = (low + high) / 2
            low, high = (low, middle) if self._starts(middle) else (middle, high)
        return high

    def _starts(self, rest: float) -> bool:
        size = self.size(rest)
        served = size.states is None or self.states is None or size.states >= self.states.per_request
        return size.tokens > 0 and served


def kv_format(s: State) -> str:
    """The stored format by name. Raises Unknown where it hangs on what is not known."""
    name = str(s.kv_cache_dtype or "auto")
    if name != "auto":
        return name
    if at_least(s, "0.5.5"):
        if is_dsa(s):
            return "fp8_e4m3" if sm_major(s) >= 10 else "bfloat16"
        declared = s.model.known("kv_cache_dtype")
        if declared is not None:
            return str(declared)
    name = str(s.dtype or "auto")
    if name != "auto":
        return name
    own = str(s.model.dtype)
    return "fp16" if own in ("fp32", "float32") else own


def element_bytes(s: State) -> int:
    """Bytes per stored element, before four-bit formats are halved. Raises Unknown for a format that is not known here."""
    name = kv_format(s)
    size = _ELEMENT_BYTES.get(name)
    if size is None:
        raise Unknown(f"bytes per element of KV cache dtype {name}")
    return size


def attention_tp(s: State) -> int:
    replicas = attention_dp(s) if dp_attention(s) else 1
    return max(1, int(s.tp_size or 1) // (replicas * int(s.attn_cp_size or 1)))


def page_size(s: State) -> int:
    """Tokens per page; 1 where it hangs on what is not known: the difference is less than a page of tokens."""
    try:
        return int(s.page_size or 1)
    except Unknown:
        return 1


def pool(s: State, model: Model) -> Pool:
    """How the KV cache of the fullest rank is sized. Raises Unknown, naming what is missing."""
    if model.attention is None or model.layers is None:
        raise Unknown("the model's attention layers")
    page = page_size(s)
    limit = None if s.max_total_tokens is None else int(s.max_total_tokens)
    if is_compressed(model):
        return Pool(compressed_cell(s, model), max(page, 256), limit, fixed=fixed_bytes(s, model))
    if keeps_two_pools(s, model):
        sliding = _sliding(s, model, page)
        if limit is not None and not at_least(s, "0.5.12"):
            limit = int(limit * (sliding.full + sliding.window_bytes) / sliding.cell)
        return Pool(sliding.cell, page, limit, _draft_slots(s), states(s, model), sliding)
    stages = stage_layers(model.layers, pipeline(s), "sglang", layer_partition(s))
    cell = max(_with_drafts(s, model, _cell(s, model, stage), stage) for stage in stages)
    stored = None
    if _overdrawn(s):
        stored = max(_with_drafts(s, model, _cell(s, model, stage, stored=True), stage) for stage in stages)
    return Pool(cell, page, limit, _draft_slots(s), states(s, model), None, stored)


def _sliding(s: State, model: Model, page: int) -> Sliding:
    """Both pools' bytes per token. Up to 0.5.18 every pipeline stage is charged all layers."""
    stages = [range(model.layers or 0)]
    if at_least(s, "0.5.20"):
        stages = list(stage_layers(model.layers or 0, pipeline(s), "sglang", layer_partition(s)))
    groups = model.attention or ()
    window = next((group.window for group in groups if group.kind in ("sliding", "chunked")), None)
    best: Sliding | None = None
    for stage in stages:
        full = sum(_group_bytes(s, group) * _layers(group, stage) for group in groups if group.kind in ("gqa", "mla"))
        narrow = sum(_group_bytes(s, group) * _layers(group, stage) for group in groups if group.kind in ("sliding", "chunked"))
        drafts = charged_layers(s)
        if drafts:
            each = next((_group_bytes(s, group) for group in groups if group.kind in ("gqa", "mla")), 0)
            full += each * drafts
        plan = Sliding(full, narrow, ratio(s), window, request_cap(s, model, window, page) if full else None)
        best = plan if best is None or plan.cell > best.cell else best
    assert best is not None
    return best


def _layers(group: LayerGroup, stage: range) -> int:
    """Every layer of the group on the stage: one that reads another's cache has its slots all the same."""
    return sum(1 for layer in group.layers if layer in stage)


def _cell(s: State, model: Model, stage: range, *, stored: bool = False) -> int:
    """Bytes per token of the layers of one stage as the engine budgets them, or as it stores them."""
    groups = model.attention or ()
    wide = next((group for group in groups if group.kind in ("gqa", "mla")), None)
    token_wise = [group for group in groups if group.kind != "linear"]
    cell = 0
    for group in token_wise:
        same = group if wide is None or group.kind == "mla" else wide
        cell += _group_bytes(s, same, stored=stored) * _layers(group, stage)
    name = kv_format(s)
    if name in _FOUR_BITS:
        cell = _four_bits(s, cell, token_wise, stage)
    elif name == "mxfp8":
        cell += cell // 32
    indexed = sum(index_bytes(group) * storing_layers(group, stage) for group in groups)
    return cell + indexed * int(s.dcp_size or 1)


def _group_bytes(s: State, group: LayerGroup, *, stored: bool = False) -> int:
    """Bytes per token of one layer of the group on one rank, without the sparse indexer."""
    size = element_bytes(s)
    if group.kind == "mla":
        if group.kv_lora_rank is None or group.qk_rope_head_dim is None:
            raise Unknown("the latent dimensions of the model")
        if group.index_head_dim and kv_format(s) == "fp8_e4m3" and (stored or at_least(s, "0.5.18")) and not _raw_dsa(s):
            return _FP8_DSA_BYTES
        return (group.kv_lora_rank + group.qk_rope_head_dim) * size
    if group.kv_heads is None or group.head_dim is None:
        raise Unknown("KV heads or head dimension of the model")
    heads = max(1, group.kv_heads // max(1, attention_tp(s) // int(s.dcp_size or 1)))
    values = group.head_dim if group.v_head_dim is None or not at_least(s, "0.5.8") else group.v_head_dim
    return heads * (group.head_dim + values) * size


def _four_bits(s: State, cell: int, groups: list[LayerGroup], stage: range) -> int:
    """Half of the bytes, and one scale for 16 values."""
    if not at_least(s, "0.5.5"):
        raise Unknown("a four-bit KV cache in this release")
    if at_least(s, "0.5.23") and kv_format(s) == "nvfp4":
        raise Unknown("scales of the nvfp4 KV cache recipe")
    scales = workspace = 0
    for group in groups:
        if group.kind == "mla":
            scales += ((group.kv_lora_rank or 0) + (group.qk_rope_head_dim or 0)) // 16 * _layers(group, stage)
            continue
        heads = max(1, (group.kv_heads or 1) // attention_tp(s))
        scales += heads * (group.head_dim or 0) * _layers(group, stage) * 2 // 16
        if at_least(s, "0.5.18"):
            workspace = 2 * heads * (group.head_dim or 0)
    return cell // 2 + scales + workspace


def _raw_dsa(s: State) -> bool:
    """Whether sparse attention stores plain values: its TensorRT-LLM kernels do, on SM100 and later the default from 0.5.10."""
    chosen = {s.dsa_prefill_backend, s.dsa_decode_backend}
    if "trtllm" in chosen:
        return True
    return chosen == {None} and at_least(s, "0.5.10") and sm_major(s) >= 10


def _overdrawn(s: State) -> bool:
    """0.5.5 to 0.5.15 budget less for FP8 sparse attention than they store."""
    if not at_least(s, "0.5.5") or at_least(s, "0.5.18") or not is_dsa(s):
        return False
    return kv_format(s) == "fp8_e4m3" and not _raw_dsa(s)


def _with_drafts(s: State, model: Model, cell: int, stage: range) -> int:
    """0.5.15 on: a draft model's layers cost what the target's do, whatever they are. DFLASH since 0.5.12."""
    drafts = charged_layers(s)
    if not drafts or not cell:
        return cell
    layers = sum(_layers(group, stage) for group in model.attention or () if group.kind != "linear")
    if at_least(s, "0.5.18") and is_dsa(s):
        indexed = sum(index_bytes(group) * _layers(group, stage) for group in model.attention or ())
        per_layer = next(index_bytes(group) for group in model.attention or () if group.index_head_dim)
        return cell + int((cell - indexed) * drafts / layers) + per_layer * drafts
    return int(cell * (1 + drafts / layers))


def charged_layers(s: State) -> int:
    """Draft layers that the target's tokens pay for."""
    if at_least(s, DRAFT_COUNTED) and eagle_family(s):
        return draft_layers(s)
    if algorithm(s) == "DFLASH" and at_least(s, "0.5.12"):
        return int(s.draft.layers)
    return 0


def draft_layers(s: State) -> int:
    """Layers of the draft that 0.5.15 and later charge to the target's tokens.

    The engine reads them from the draft's path: the one given, or the target's own for the architectures that it knows to
    bring their draft along. Without a path nothing is charged, though the draft's cache is there (late.py); from 0.5.20 on the
    target's configuration is asked instead.
    """
    name, draft = s.model.known("architecture"), s.draft.known("layers")
    own = draft is None or s.draft.known("name") == s.model.known("name")
    if s.given("speculative-draft-model-path") and not own:
        return int(draft)
    if s.given("speculative-draft-model-path") and s.model.known("vision") is not None:
        raise Unknown("how the engine counts the draft layers of a multimodal model")
    pathless = name not in _OWN_DRAFT and not s.given("speculative-draft-model-path")
    if pathless and (not at_least(s, "0.5.20") or str(name).startswith("Qwen3_5")):
        return 0
    layers = s.model.known("mtp_layers")
    if layers:
        return int(layers)
    raise Unknown("layers of the draft model")


def _draft_slots(s: State) -> int:
    """Up to 0.5.5 the pool grows after sizing by what drafts and their verification may hold at once."""
    if at_least(s, "0.5.8") or algorithm(s) not in ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE"):
        return 0
    requests = int(s.max_running_requests or DEFAULT_SPECULATIVE_REQUESTS)
    tree = int(s.speculative_num_steps or 0) * int(s.speculative_eagle_topk or 0)
    return requests * (tree + int(s.speculative_num_draft_tokens or 0)) + 100
