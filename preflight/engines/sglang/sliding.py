"""Sliding-window hybrids: which models keep two pools in a release, and how the pools share the memory.

Facts: sglang-memory §3.4. 0.5.2 and 0.5.5.post3 srt/model_executor/model_runner.py `set_num_token_hybrid`; 0.5.9
model_runner_kv_cache_mixin.py; 0.5.12 to 0.5.23 srt/model_executor/pool_configurator.py; lists of architectures in
srt/configs/model_config.py `is_hybrid_swa_model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflight.engines.sglang.facts import algorithm, at_least, attention_dp, dp_attention, sm_major
from preflight.engines.steps import State
from preflight.records import NamedTuple

if TYPE_CHECKING:
    from preflight.model.types import Model

_SINCE = {
    "Llama4ForConditionalGeneration": "0.5.8",
    "GptOssForCausalLM": "0.5.8",
    "MiMoV2FlashForCausalLM": "0.5.8",
    "MiMoV2MTP": "0.5.8",
    "Step3p5ForCausalLM": "0.5.9",
    "Step3p5MTP": "0.5.9",
    "MiMoV2ForCausalLM": "0.5.12",
    "Gemma4ForCausalLM": "0.5.12",
    "Gemma4ForConditionalGeneration": "0.5.12",
    "LagunaForCausalLM": "0.5.12",
    "Step3p7ForConditionalGeneration": "0.5.15",
    "Gemma4UnifiedForConditionalGeneration": "0.5.15",
    "UnlimitedOCRForCausalLM": "0.5.15",
    "MellumForCausalLM": "0.5.18",
    "MuseGlimmerForCausalLM": "0.5.18",
    "MuseGlimmerForConditionalGeneration": "0.5.18",
    "InklingForConditionalGeneration": "0.5.18",
    "InklingForConditionalGenerationMTP": "0.5.18",
    "DiffusionGemmaForBlockDiffusion": "0.5.23",
    "BeamForCausalLM": "0.5.23",
    "EmbeddingGemma2Model": "0.5.23",
}
"""The listed release that first keeps two pools for an architecture."""
_OFF_TO_0_5_5 = ("Gemma2", "Gemma3", "Olmo2", "GptOss")
_HOST_CACHE_ENDS_IT = {"MiMoV2": "0.5.15", "Step3p": None, "GptOss": "0.5.10"}
"""Beginnings of the architectures that keep one pool beside a hierarchical cache, and the release that first keeps two."""
_EVICTION_INTERVAL = 128
"""Default of SGLANG_SWA_EVICTION_INTERVAL, in decode steps."""


class Sliding(NamedTuple):
    """Bytes per token of all full layers and of all sliding layers of a rank, and how their pools are sized.

    `cap` is the sliding pool in tokens where it is sized by the number of requests instead of the ratio.
    """

    full: float
    window_bytes: float
    ratio: float
    window: int | None
    cap: int | None = None

    @property
    def cell(self) -> float:
        """Bytes per token that the engine reports."""
        if not self.full:
            return self.window_bytes
        return self.full if self.cap is not None else self.full + self.ratio * self.window_bytes

    @property
    def fixed(self) -> float:
        """Bytes of the sliding pool where they do not hang on the tokens."""
        return 0.0 if self.cap is None else self.cap * self.window_bytes

    def window_tokens(self, tokens: int, page: int) -> int:
        if self.cap is not None:
            return self.cap
        return int(tokens * self.ratio) // page * page if self.full else tokens


def keeps_two_pools(s: State, model: Model) -> bool:
    """Whether the release sizes full and sliding layers apart. Raises Unknown."""
    kinds = {group.kind for group in model.attention or ()}
    if not kinds & {"sliding", "chunked"} or s.disable_hybrid_swa_memory:
        return False
    architecture = str(model.architecture)
    if not at_least(s, "0.5.8"):
        return at_least(s, "0.5.2") and "chunked" not in kinds and not architecture.startswith(_OFF_TO_0_5_5)
    since = _SINCE.get(architecture)
    if since is None or not at_least(s, since):
        return False
    if s.enable_hierarchical_cache and _one_pool_with_host_cache(s, architecture):
        return False
    if architecture == "GptOssForCausalLM":
        if not at_least(s, "0.5.9"):
            return False
        return at_least(s, "0.5.10") or sm_major(s) != 10
    return True


def _one_pool_with_host_cache(s: State, architecture: str) -> bool:
    found = next((name for name in _HOST_CACHE_ENDS_IT if architecture.startswith(name)), None)
    if found is None:
        return False
    release = _HOST_CACHE_ENDS_IT[found]
    return release is None or not at_least(s, release)


def ratio(s: State) -> float:
    """Tokens of the sliding pool for one token of the full pool."""
    given = s.swa_full_tokens_ratio
    if given is not None and (given != 0.8 or s.given("swa-full-tokens-ratio")):
        return float(given)
    return 0.1 if str(s.model.known("architecture")).startswith("Inkling") else 0.8


def request_cap(s: State, model: Model, window: int | None, page: int) -> int | None:
    """0.5.15 on: without a radix cache, a given number of requests bounds the sliding pool, in tokens."""
    if not at_least(s, "0.5.15") or not s.disable_radix_cache or s.max_running_requests is None or window is None:
        return None
    decode = s.disaggregation_mode == "decode"
    if s.chunked_prefill_size is None and not (decode and at_least(s, "0.5.23")):
        return None
    draft = int(s.speculative_num_draft_tokens or 1)
    interval = max(1, _interval(s))
    replicas = attention_dp(s) if dp_attention(s) else 1 if at_least(s, "0.5.23") else int(s.dp_size or 1)
    requests = int(s.max_running_requests) // replicas
    requests = max(1, requests) if at_least(s, "0.5.23") else requests
    each = window + interval * draft + page + _decode_allocation(s, page)
    if decode:
        extra = int(s.disaggregation_decode_extra_slots or 0)
        tokens = each * requests + (window + page) * extra
    else:
        in_flight = 1 if s.disable_overlap_schedule else 2
        tokens = each * requests + in_flight * int(s.chunked_prefill_size) + page
    return _aligned(tokens, page)


def _interval(s: State) -> int:
    try:
        return int(s.env("SGLANG_SWA_EVICTION_INTERVAL") or _EVICTION_INTERVAL)
    except ValueError:
        return _EVICTION_INTERVAL


def _decode_allocation(s: State, page: int) -> int:
    """Tokens that one request's decode step allocates: a page, or what a draft needs in its worst case."""
    if algorithm(s) is None:
        return page
    steps, topk = int(s.speculative_num_steps or 1), int(s.speculative_eagle_topk or 1)
    tokens = int(s.speculative_num_draft_tokens or 1)
    if s.disable_overlap_schedule:
        if page > 1:
            steps = _aligned(steps + (page if topk > 1 else 0), page)
            tokens = _aligned(tokens, page)
        return max(steps * topk, tokens)
    if page > 1 and topk > 1:
        steps = (steps + 2 * (page - 1)) // page * page
    return 2 * max(steps * topk, tokens)


def _aligned(tokens: int, page: int) -> int:
    return -(-tokens // page) * page
