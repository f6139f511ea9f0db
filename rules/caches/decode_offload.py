"""Offloading decode KV asks for something else.

## What it does
Finds `disaggregation-decode-enable-offload-kvcache` without a decode role or a store, and tiers that only decode servers have.

## Why
Only a decode server offloads what it decoded. Since 0.5.10 it needs `hicache-storage-backend`; before, it excludes the
overlapped speculation worker.

## Fix
Unsafe: the role or the flag.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/kv_cache_hook.py.
"""

from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MEM044", "decode-offload", "sglang", "cache")

_FLAG = "disaggregation-decode-enable-offload-kvcache"
_FIX = (Set(_FLAG, None),)
_SOURCE = "srt/arg_groups/kv_cache_hook.py"


def _backup_fault(s: State) -> str | None:
    if s.disaggregation_decode_retraction_backup != "host_pool":
        return None
    if s.disaggregation_mode != "decode":
        return "needs disaggregation-mode decode"
    if (s.dcp_size or 1) > 1:
        return f"does not work with dcp-size {s.dcp_size}"
    if s.enable_priority_scheduling and not s.disable_priority_preemption:
        return "needs disable-priority-preemption beside enable-priority-scheduling"
    return None


ROWS = (
    Row(
        "H6",
        REFUSES,
        when=lambda s: s.disaggregation_decode_enable_offload_kvcache and s.disaggregation_mode != "decode",
        versions="0.5.5..",
        says=f"{_FLAG} needs disaggregation-mode decode; here it is {{disaggregation_mode}}. Leave it out.",
        at=_FLAG,
        fix=_FIX,
        source=_SOURCE,
        order=22,
        bad=f"--{_FLAG} @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good=f"--no:{_FLAG}",
    ),
    Row(
        "H6",
        REFUSES,
        when=lambda s: (
            s.disaggregation_decode_enable_offload_kvcache
            and s.disaggregation_mode == "decode"
            and s.hicache_storage_backend is None
        ),
        versions="0.5.10..",
        says=f"{_FLAG} needs hicache-storage-backend. Give one.",
        at=_FLAG,
        fix=_FIX,
        source=_SOURCE,
        order=23,
    ),
    Row(
        "H6",
        REFUSES,
        when=lambda s: (
            s.disaggregation_decode_enable_offload_kvcache
            and s.disaggregation_mode == "decode"
            and s.flag("SGLANG_ENABLE_SPEC_V2")
        ),
        versions="0.5.5..0.5.9",
        says=f"{_FLAG} does not work with SGLANG_ENABLE_SPEC_V2. Unset the variable.",
        at=_FLAG,
        fix=_FIX,
        source="srt/server_args.py",
        order=23,
    ),
    Row(
        "D14",
        REFUSES,
        when=lambda s: _backup_fault(s) is not None,
        versions="0.5.18..",
        says=lambda s: f"disaggregation-decode-retraction-backup host_pool {_backup_fault(s)}.",
        at="disaggregation-decode-retraction-backup",
        fix=(Set("disaggregation-decode-retraction-backup", None),),
        source=_SOURCE,
        order=10,
    ),
    Row(
        "D14",
        REFUSES,
        when=lambda s: (
            s.disaggregation_decode_enable_offload_kvcache
            and s.disaggregation_mode == "decode"
            and s.disaggregation_decode_retraction_backup == "host_pool"
        ),
        versions="0.5.18..",
        says=f"{_FLAG} and disaggregation-decode-retraction-backup host_pool exclude each other. Leave one out.",
        at=_FLAG,
        fix=_FIX,
        source=_SOURCE,
        order=24,
    ),
)
