"""The host side of HiCache cannot be sized this way.

## What it does
Finds `hicache-host-memory-fraction`, `hicache-host-memory-mode` and `dcp-size` combinations that SGLang refuses.

## Why
The fraction is a share of host memory, above 0 and at most 1, and is tested even where `hicache-ratio` or `hicache-size`
make it moot. In the mode buffer_only host memory merely passes pages on to storage, so it needs a storage backend and does not
exist on decode servers. With decode context parallelism only MLA caches have an index translation.

## Fix
Unsafe: a size is a choice.

## Source
sglang 0.5.20 and 0.5.23 srt/arg_groups/hicache_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, hicache_active, is_mla
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("MEM043", "hicache-host-memory", "sglang", "hicache")

_SOURCE = "srt/arg_groups/hicache_hook.py"


def _dcp_fault(s: State) -> str | None:
    if not s.enable_hierarchical_cache or (s.dcp_size or 1) <= 1:
        return None
    if algorithm(s) not in (None, "DSPARK"):
        return f"{algorithm(s)} speculation"
    for flag in ("enable-lmcache", "enable-hisparse"):
        if s.get(flag):
            return flag
    return None if is_mla(s) else "a model without MLA"


ROWS = (
    Row(
        "H8",
        SETS,
        when=lambda s: s.hicache_ratio is None and s.disaggregation_mode != "decode",
        versions="0.5.18..",
        sets="hicache-ratio",
        value=lambda s: 1.2 if s.hicache_host_memory_mode == "buffer_only" else 2.0,
        source=_SOURCE,
        step="early",
        order=20,
    ),
    Row(
        "H9",
        REFUSES,
        when=lambda s: s.hicache_host_memory_fraction is not None and not 0 < s.hicache_host_memory_fraction <= 1,
        versions="0.5.23..",
        says="hicache-host-memory-fraction {hicache_host_memory_fraction} is no share of host "
        "memory. Use more than 0 and at most 1.",
        at="hicache-host-memory-fraction",
        fix=(Set("hicache-host-memory-fraction", None),),
        source=_SOURCE,
        step="early",
        order=19,
        bad="--enable-hierarchical-cache --hicache-host-memory-fraction 1.5 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--hicache-host-memory-fraction 0.5",
    ),
    Row(
        "H7",
        REFUSES,
        when=lambda s: s.hicache_host_memory_mode == "buffer_only" and s.hicache_storage_backend is None and hicache_active(s),
        versions="0.5.20..",
        says="hicache-host-memory-mode buffer_only needs hicache-storage-backend. Give one, or use cache.",
        at="hicache-host-memory-mode",
        fix=(Set("hicache-host-memory-mode", None),),
        source=_SOURCE,
        order=12,
        bad="--enable-hierarchical-cache --hicache-host-memory-mode buffer_only @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--hicache-storage-backend file",
    ),
    Row(
        "H7",
        REFUSES,
        when=lambda s: s.hicache_host_memory_mode == "buffer_only" and s.disaggregation_mode == "decode" and hicache_active(s),
        versions="0.5.20..",
        says="hicache-host-memory-mode buffer_only does not exist on decode servers. Use cache.",
        at="hicache-host-memory-mode",
        fix=(Set("hicache-host-memory-mode", None),),
        source=_SOURCE,
        order=14,
    ),
    Row(
        "H7",
        SETS,
        when=lambda s: (
            s.hicache_host_memory_mode == "buffer_only" and s.hicache_write_policy == "write_back" and hicache_active(s)
        ),
        versions="0.5.20..",
        sets="hicache-write-policy",
        value="write_through",
        says="hicache-host-memory-mode buffer_only sets hicache-write-policy to write_through. Write that.",
        fix=(Set("hicache-write-policy", "write_through"),),
        source=_SOURCE,
        order=13,
    ),
    Row(
        "H10",
        REFUSES,
        when=lambda s: _dcp_fault(s) is not None,
        versions="0.5.20..",
        says=lambda s: (
            f"enable-hierarchical-cache with dcp-size {s.dcp_size} does not work with {_dcp_fault(s)}. Use dcp-size 1."
        ),
        at="enable-hierarchical-cache",
        fix=(Set("dcp-size", None), Set("enable-hierarchical-cache", None)),
        source=_SOURCE,
        order=30,
        bad="--enable-hierarchical-cache --tp-size 8 --dcp-size 2 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:dcp-size",
    ),
)
