"""The host side of HiCache cannot be sized this way.

## What it does
Finds a `hicache-size` that the host does not have, and `hicache-host-memory-fraction`, `hicache-host-memory-mode` and
`dcp-size` combinations that SGLang refuses.

## Why
Every rank pins `hicache-size` GB (10^9 bytes) of host memory, and refuses to where that is not free beside the 10 GiB that
it leaves to the host; what is free is less than the `host-memory` of the machine. The fraction is a share of host memory,
above 0 and at most 1, and is tested even where `hicache-ratio` or `hicache-size` make it moot. In the mode buffer_only host
memory merely passes pages on to storage, so it needs a storage backend and does not exist on decode servers. With decode
context parallelism only MLA caches have an index translation.

## Fix
Unsafe: a size is a choice.

## Source
sglang 0.4.6.post5 to 0.5.12 srt/mem_cache/memory_pool_host.py, 0.5.23 srt/mem_cache/pool_host/base.py;
0.5.20 and 0.5.23 srt/arg_groups/hicache_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least, hicache_active, is_mla, ranks
from preflight.engines.steps import DIES, REFUSES, SETS, Row, Set, State, Topic, Unknown
from preflight.units import GIB

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


_LEFT_TO_THE_HOST = 10 * GIB


def _ranks(s: State) -> int:
    """Processes of a node that pin a cache each."""
    return max(1, ranks(s) // max(1, int(s.nnodes or 1)))


def _pinnable(s: State) -> int:
    """GB that a rank can pin at most."""
    return int((s.gpu.host_memory - _LEFT_TO_THE_HOST) // _ranks(s) // 10**9)


def _pinnable_or_unknown(s: State) -> int:
    limit = _pinnable(s)
    if limit <= 0:
        raise Unknown("a size that the host has")
    return limit


def _over_host_memory(s: State) -> bool:
    """Whether one rank asks for more than the host has, less what is left to it, or all together for more than it has."""
    size = (s.hicache_size or 0) * 10**9 if s.enable_hierarchical_cache else 0
    if size <= 0 or (at_least(s, "0.5.15") and any(group.compress_ratio is not None for group in s.model.attention)):
        return False
    return bool(size > s.gpu.host_memory - _LEFT_TO_THE_HOST or size * _ranks(s) > s.gpu.host_memory)


def _says_host_memory(s: State) -> str:
    processes = _ranks(s)
    each = f"{s.hicache_size:g} GB" + (f" for each of {processes} ranks of a node" if processes > 1 else "")
    host = s.gpu.host_memory / 10**9
    limit = _pinnable(s)
    remedy = f"Use {limit} or less" if limit > 0 else "Turn enable-hierarchical-cache off"
    return f"hicache-size {each} is more than the host's {host:.1f} GB less the 10 GiB that stay free. {remedy}."


ROWS = (
    Row(
        "hicache-host-memory",
        DIES,
        when=_over_host_memory,
        says=_says_host_memory,
        at="hicache-size",
        fix=(
            Set("hicache-size", _pinnable_or_unknown),
            (Set("enable-hierarchical-cache", None), Set("hicache-size", None)),
        ),
        stage="kv-sizing",
        source="srt/mem_cache/memory_pool_host.py",
        step="kv-sizing",
    ),
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
