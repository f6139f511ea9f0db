"""State pools of hybrid linear models (mamba, GDN, KDA, lightning): how a rest of memory is split with the KV cache.

Facts: sglang-memory §3.5. 0.5.2 and 0.5.5.post3 srt/model_executor/model_runner.py; 0.5.8 to 0.5.15
model_runner_kv_cache_mixin.py `handle_max_mamba_cache`; 0.5.18 to 0.5.23 srt/mem_cache/kv_cache_configurator.py
`_handle_max_mamba_cache`; bytes per state in srt/configs/mamba_utils.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflight.engines.sglang.facts import algorithm, at_least, attention_dp, dp_attention, layer_partition, pipeline
from preflight.engines.steps import State, Unknown
from preflight.model.kv import request_state_bytes, storing_layers
from preflight.model.weights import stage_layers
from preflight.records import NamedTuple

if TYPE_CHECKING:
    from preflight.model.types import Model

_DTYPES = {"float32": "fp32", "fp32": "fp32", "bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16"}
_EXTRA_BUFFER = (
    "Qwen3_5",
    "Qwen3Next",
    "InternS2",
    "MiniCPMV4_6",
    "BailingMoeV2_5",
    "FalconH1",
    "GraniteMoeHybrid",
    "NemotronH",
)
"""Beginnings of the architectures whose automatic strategy is the extra buffer, 0.5.15 on."""
DEFAULT_SPECULATIVE_REQUESTS = 48


class Split(NamedTuple):
    """`states` slots, their bytes (drafts' intermediate states included), and the rest that the KV cache may take."""

    states: int
    bytes: float
    rest: float


class States(NamedTuple):
    """How the engine sizes the state pool. `each` is one state's bytes; `requests` per worker where they are given.

    `fixed` slots stand whatever the memory; else `share` of the KV bytes go to states. `per_request` slots serve one
    request; `draft` tokens each keep an intermediate state; `padding` slots are charged beside the usable ones.
    """

    each: int
    share: float
    per_request: int
    fixed: int | None
    requests: int | None
    draft: int
    version: tuple[int, ...]
    replicas: int = 1

    @property
    def slack(self) -> float:
        """The bytes by which one more state can lower the rest at a larger memory."""
        return 0.0 if self.fixed is not None else self.each * (1.0 + self.draft)

    def split(self, rest: float) -> Split:
        if self.version < (0, 5, 8):
            return self._before_0_5_8(rest)
        if self.version < (0, 5, 15):
            return self._before_0_5_15(rest)
        return self._joint(rest, 1 if self.version >= (0, 5, 18) else 0)

    def _before_0_5_8(self, rest: float) -> Split:
        wide = self.each * (1 + self.draft)
        states = self.fixed
        if states is None:
            states = int(rest * self.share / (1 + self.share) // self.each // (1 + self.draft)) // self.replicas
        return Split(states, states * wide, rest - states * wide)

    def _before_0_5_15(self, rest: float) -> Split:
        """Intermediate states of drafts are taken for every request first."""
        drafts = self.each * (self.requests or 0) * self.draft
        left = rest - drafts
        states = self.fixed
        if states is None:
            states = int(left * self.share / (1 + self.share) // self.each)
        return Split(states, drafts + states * self.each, left - states * self.each)

    def _joint(self, rest: float, padding: int) -> Split:
        """States and the intermediate states of drafts share one budget; from 0.5.18 a padding slot counts in each."""
        states = self.fixed
        if states is None:
            budget = rest * self.share / (1 + self.share)
            wide = self.each * (1 + self.draft / self.per_request)
            states = int((budget - padding * self.each * (1 + self.draft)) // wide)
        drafts = 0.0
        if self.draft:
            served = min(self.requests or 0, states // self.per_request)
            drafts = self.each * (served + padding) * self.draft
        taken = drafts + (states + padding) * self.each
        return Split(states, taken, rest - taken)


def states(s: State, model: Model) -> States | None:
    """None for a model without linear layers. Raises Unknown."""
    if not any(group.kind == "linear" for group in model.attention or ()):
        return None
    if not at_least(s, "0.5.2"):
        raise Unknown("the state pool of this release")
    if s.enable_linear_replayssm_spec or s.enable_int8_mamba_checkpoint:
        raise Unknown("the state pool with replayed or quantised states")
    each = state_bytes(s, model)
    if not each:
        raise Unknown("bytes of one request's state")
    draft = int(s.speculative_num_draft_tokens or 0) if algorithm(s) is not None else 0
    if algorithm(s) is not None and not draft and at_least(s, "0.5.8"):
        raise Unknown("speculative-num-draft-tokens")
    return States(
        each,
        _share(s, model),
        slots_per_request(s, model),
        _fixed(s),
        _requests(s),
        draft,
        s.version,
        _replicas(s) if not at_least(s, "0.5.8") else 1,
    )


def state_bytes(s: State, model: Model) -> int:
    """One request's state on one rank: from 0.5.18 of the stage with most linear layers, before that of all."""
    from preflight.engines.sglang.kv import attention_tp

    linear = next(group for group in model.attention or () if group.kind == "linear")
    conv = _dtype(s.env("SGLANG_MAMBA_CONV_DTYPE")) or "bf16"
    state = _dtype(s.mamba_ssm_dtype) or _dtype(s.env("SGLANG_MAMBA_SSM_DTYPE")) or _dtype(linear.state_dtype) or "fp32"
    size = request_state_bytes(model, conv, state, attention_tp(s))
    if size is None:
        raise Unknown("the geometry of the model's linear layers")
    pp = pipeline(s)
    if pp > 1 and at_least(s, "0.5.18") and model.layers:
        most = max(storing_layers(linear, stage) for stage in stage_layers(model.layers, pp, "sglang", layer_partition(s)))
        size = int(size * most / max(1, len(linear.layers)))
    return size


def _dtype(name: object) -> str | None:
    return None if name is None else _DTYPES.get(str(name))


def _share(s: State, model: Model) -> float:
    given = s.mamba_full_memory_ratio
    if given is not None and (given != 0.9 or s.given("mamba-full-memory-ratio")):
        return float(given)
    return 0.1 if str(model.architecture).startswith("Inkling") else 0.9


def _replicas(s: State) -> int:
    return attention_dp(s) if dp_attention(s) else 1


def _requests(s: State) -> int | None:
    requests = s.max_running_requests
    if requests is None:
        if algorithm(s) is None:
            return None
        requests = DEFAULT_SPECULATIVE_REQUESTS
    worker = int(requests) // _replicas(s)
    return max(1, worker) if at_least(s, "0.5.23") else worker


def _fixed(s: State) -> int | None:
    """State slots that do not hang on the memory: given, or one per request without a radix cache."""
    replicas = _replicas(s)
    given = s.max_mamba_cache_size
    no_radix = bool(s.disable_radix_cache) or not at_least(s, "0.5.5")
    if not at_least(s, "0.5.8"):
        if not no_radix:
            return None
        return int(given or s.max_running_requests or 512) // replicas
    if given is not None:
        return int(given) // replicas
    if no_radix and s.max_running_requests is not None:
        slots = int(s.max_running_requests) // replicas
        return max(1, slots) if at_least(s, "0.5.23") else slots
    return 512 // replicas if no_radix and not at_least(s, "0.5.9") else None


def extra_buffer(s: State, model: Model) -> str | None:
    """`extra_buffer`, `extra_buffer_lazy`, or None where states are not buffered for the radix cache."""
    if s.disable_radix_cache or not at_least(s, "0.5.8"):
        return None
    strategy = s.mamba_radix_cache_strategy
    if strategy in (None, "auto"):
        wanted = at_least(s, "0.5.15") and (not s.disable_overlap_schedule or (s.page_size or 1) > 1)
        known = str(model.architecture).startswith(_EXTRA_BUFFER)
        if at_least(s, "0.5.23"):
            known = known or str(model.architecture).startswith("KimiLinear")
        triton = s.linear_attn_backend in (None, "triton")
        return "extra_buffer" if wanted and known and triton else None
    return str(strategy) if str(strategy).startswith("extra_buffer") else None


def slots_per_request(s: State, model: Model) -> int:
    """State slots that one running request may hold."""
    if s.disable_radix_cache or not at_least(s, "0.5.5"):
        return 1
    kept = extra_buffer(s, model)
    if kept is None:
        return 3
    if not at_least(s, "0.5.10"):
        return 4 if algorithm(s) is not None else 5
    if s.disable_overlap_schedule or kept == "extra_buffer_lazy":
        extra = 1
    else:
        extra = 2
    skips = at_least(s, "0.5.18") and s.flag("SGLANG_OPT_MAMBA_SKIP_DECODE_LOCK")
    return 3 + extra - (1 if skips else 0)
