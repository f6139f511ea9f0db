"""HiCache needs the radix cache.

## What it does
Finds `enable-hierarchical-cache` together with `disable-radix-cache`, and other caches that exclude each other.

## Why
HiCache keeps evicted prefixes of the radix cache in host memory or storage: without the radix cache there is nothing to
evict. Since 0.5.23 LMCache and the external linker are checked in the same way: one second tier at a time, over an
active radix cache.

## Fix
Unsafe: either the second tier or the flag that excludes it.

## Source
sglang 0.5.2 to 0.5.18 srt/server_args.py; 0.5.23 srt/arg_groups/kv_cache_hook.py, hicache_hook.py.
"""

from preflight.engines.sglang.facts import dp_attention, speculation
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MEM046", "cache-tiers-conflict", "sglang", "cache")

_SOURCE = "srt/arg_groups/kv_cache_hook.py"


def _lmcache_fault(s: State) -> str | None:
    if not s.enable_lmcache:
        return None
    for flag in ("enable-hierarchical-cache", "enable-unified-cache-external-linker", "disable-radix-cache"):
        if s.get(flag):
            return flag
    if speculation(s):
        return "speculative decoding"
    if dp_attention(s):
        return "DP attention"
    if (s.dcp_size or 1) > 1:
        return f"dcp-size {s.dcp_size}"
    if s.enable_streaming_session:
        return "enable-streaming-session"
    return "PD disaggregation" if s.disaggregation_mode != "null" else None


def _linker_fault(s: State) -> str | None:
    if not s.enable_unified_cache_external_linker:
        return None
    if s.disable_radix_cache or s.radix_cache_backend is not None:
        return "disable-radix-cache or another radix-cache-backend"
    if s.enable_hierarchical_cache:
        return "enable-hierarchical-cache"
    return "hicache-storage-backend" if s.hicache_storage_backend is not None else None


ROWS = (
    Row(
        "H1",
        REFUSES,
        when=lambda s: s.enable_hierarchical_cache and s.disable_radix_cache,
        versions="0.5.2..",
        says="enable-hierarchical-cache needs the radix cache, which is disabled. Remove one of the two.",
        at="enable-hierarchical-cache",
        fix=(Set("disable-radix-cache", None), Set("enable-hierarchical-cache", None)),
        source=_SOURCE,
        order=20,
        bad="--enable-hierarchical-cache --disable-radix-cache @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:disable-radix-cache",
    ),
    Row(
        "H11",
        REFUSES,
        when=lambda s: _lmcache_fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"enable-lmcache does not work with {_lmcache_fault(s)}. Remove one of the two.",
        at="enable-lmcache",
        fix=(Set("enable-lmcache", None),),
        source=_SOURCE,
        order=30,
        bad="--enable-lmcache --enable-hierarchical-cache @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-hierarchical-cache",
    ),
    Row(
        "H12",
        REFUSES,
        when=lambda s: _linker_fault(s) is not None,
        versions="0.5.20..",
        says=lambda s: f"enable-unified-cache-external-linker does not work with {_linker_fault(s)}. Remove one of the two.",
        at="enable-unified-cache-external-linker",
        fix=(Set("enable-unified-cache-external-linker", None),),
        source="srt/arg_groups/hicache_hook.py",
        step="hicache",
        order=10,
    ),
    Row(
        "H15",
        REFUSES,
        when=lambda s: (
            s.enable_int8_mamba_checkpoint
            and (s.enable_hierarchical_cache or s.enable_lmcache or s.radix_cache_backend is not None)
        ),
        versions="0.5.15..",
        says="enable-int8-mamba-checkpoint works with the built-in radix cache only. Leave it out.",
        at="enable-int8-mamba-checkpoint",
        fix=(Set("enable-int8-mamba-checkpoint", None),),
        source="srt/arg_groups/mamba_hook.py",
        step="mamba",
    ),
)
