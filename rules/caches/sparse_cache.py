"""HiSparse, KV sharding or a TEL eviction policy is asked for without its conditions.

## What it does
Finds `enable-hisparse`, `enable-kv-cache-sharding` and `radix-eviction-policy tlru` where SGLang refuses them.

## Why
HiSparse swaps entries of sparse attention to the host: it needs a model with sparse attention, no radix cache, no mixed
chunks and chains of draft tokens. KV sharding is for PD prefill servers. The TLRU policy needs a threshold above its
estimate of the next prompt.

## Fix
Unsafe: leave the feature out, or meet its conditions.

## Source
sglang 0.5.10.post1 to 0.5.23 srt/arg_groups/hisparse_hook.py; 0.5.23 kv_shard_hook.py, kv_cache_hook.py.
"""

from preflight.engines.sglang.facts import at_least, attention_backends, dp_attention, is_dsa, is_mla, speculation
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MEM045", "sparse-cache-conditions", "sglang", "checks")

_SPARSE = (
    "DeepseekV32ForCausalLM",
    "DeepseekV4ForCausalLM",
    "GlmMoeDsaForCausalLM",
    "MiniMaxM3SparseForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration",
)


def _hisparse_fault(s: State) -> str | None:
    if not s.enable_hisparse:
        return None
    if s.model.architecture not in _SPARSE and not is_dsa(s):
        return "needs a model with sparse attention"
    if not s.disable_radix_cache:
        return "needs disable-radix-cache"
    if s.enable_mixed_chunk and at_least(s, "0.5.23"):
        return "does not work with enable-mixed-chunk"
    if speculation(s) and (s.speculative_eagle_topk or 1) != 1:
        return "needs speculative-eagle-topk 1"
    return "does not work with speculative-adaptive" if speculation(s) and s.speculative_adaptive else None


_BUILT_IN_ONLY = (
    ("dllm-algorithm", None),
    ("radix-cache-backend", None),
    ("enable-unified-cache-external-linker", False),
    ("enable-streaming-session", False),
    ("enable-session-radix-cache", False),
    ("enable-flexkv", False),
    ("enable-unified-memory", False),
    ("dcp-size", 1),
)
_WHOLE_PAGES = ("enable-lmcache", "enable-hisparse", "enable-two-batch-overlap")


def _sharding_fault(s: State) -> str | None:
    """What KV sharding on a prefill server does not live with, in upstream's order as far as it needs no model."""
    if not s.enable_kv_cache_sharding or s.disaggregation_mode != "prefill":
        return None
    if s.speculative_algorithm is not None and not _next_token_layer(s):
        return f"{s.speculative_algorithm} speculation"
    for name, plain in _BUILT_IN_ONLY:
        if s.get(name) not in (None, plain):
            return name
    if s.enable_hierarchical_cache and s.hicache_storage_backend is not None:
        return "hicache-storage-backend"
    for name in _WHOLE_PAGES:
        if s.get(name):
            return name
    backend = attention_backends(s)[0]
    if backend not in ("fa3", "dsa", "trtllm_mla"):
        return f"attention-backend {backend}"
    if s.disaggregation_transfer_backend not in ("mooncake", "nixl"):
        return f"the transfer backend {s.disaggregation_transfer_backend}"
    if s.flag("SGLANG_DISAGG_STAGING_BUFFER"):
        return "SGLANG_DISAGG_STAGING_BUFFER"
    return _undivided(s)


def _undivided(s: State) -> str | None:
    """What leaves a rank nothing of its own to keep."""
    if (s.attn_cp_size or 1) > 1 and s.enable_prefill_cp:
        return None
    if not is_mla(s):
        return "a model without MLA unless enable-prefill-cp and attn-cp-size above 1 are given"
    if (s.attn_cp_size or 1) > 1:
        return None
    if dp_attention(s):
        return "DP attention"
    return "tp-size 1" if s.tp_size <= 1 else None


def _next_token_layer(s: State) -> bool:
    return bool(
        s.model.architecture == "GlmMoeDsaForCausalLM"
        and s.speculative_algorithm == "EAGLE"
        and s.speculative_eagle_topk in (None, 1)
        and not s.enable_multi_layer_eagle
    )


def _policy_fault(s: State) -> str | None:
    if s.radix_eviction_policy != "tlru":
        return None
    config = s.radix_eviction_policy_config or {}
    threshold, estimate = config.get("threshold", 0), config.get("next_prompt_estimate", 0)
    return None if threshold > estimate >= 0 else f"threshold {threshold} and next_prompt_estimate {estimate}"


ROWS = (
    Row(
        "H16",
        REFUSES,
        when=lambda s: _hisparse_fault(s) is not None,
        versions="0.5.10..",
        says=lambda s: f"enable-hisparse {_hisparse_fault(s)}.",
        at="enable-hisparse",
        fix=(Set("disable-radix-cache", True), Set("enable-hisparse", None)),
        source="srt/arg_groups/hisparse_hook.py",
        order=62,
        bad="--enable-hisparse --disable-radix-cache @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-hisparse",
    ),
    Row(
        "H17",
        REFUSES,
        when=lambda s: s.enable_kv_cache_sharding and s.disaggregation_mode != "prefill",
        versions="0.5.23..",
        says="enable-kv-cache-sharding needs disaggregation-mode prefill; here it is {disaggregation_mode}. Leave it out.",
        at="enable-kv-cache-sharding",
        fix=(Set("enable-kv-cache-sharding", None),),
        source="srt/arg_groups/kv_shard_hook.py",
        step="kv-shard",
        bad="--enable-kv-cache-sharding @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-kv-cache-sharding",
    ),
    Row(
        "H17-with",
        REFUSES,
        when=lambda s: _sharding_fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"enable-kv-cache-sharding does not work with {_sharding_fault(s)}. Leave one of the two out.",
        at="enable-kv-cache-sharding",
        fix=(Set("enable-kv-cache-sharding", None),),
        source="srt/arg_groups/kv_shard_hook.py",
        step="kv-shard",
        order=60,
    ),
    Row(
        "H14",
        REFUSES,
        when=lambda s: _policy_fault(s) is not None,
        versions="0.5.20..",
        says=lambda s: f"radix-eviction-policy tlru does not work with {_policy_fault(s)}. Use lru, or a larger threshold.",
        at="radix-eviction-policy",
        fix=(Set("radix-eviction-policy", None),),
        source="srt/arg_groups/kv_cache_hook.py",
        step="cache",
        order=12,
    ),
)
