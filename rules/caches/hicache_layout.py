"""HiCache changes the layout or the way of copying.

## What it does
Finds `hicache-mem-layout` and `hicache-io-backend` values that SGLang replaces.

## Why
The kernel copies page by page only from some layouts, and a store only takes whole pages: page_first_direct goes with the
direct backend, Mooncake not with layer_first, and up to 0.5.12 the kernel not with FlashAttention 3 decoding. SGLang
moves to the nearest combination that works.

## Fix
Safe: the value written is the one that SGLang uses.

## Source
sglang 0.5.5 to 0.5.18 srt/server_args.py; 0.5.20 and 0.5.23 srt/arg_groups/hicache_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import at_least, cuda_major, hicache_active, is_mla
from preflight.engines.steps import SETS, Row, Set, State, Topic

TOPIC = Topic("MEM042", "hicache-layout-replaced", "sglang", "hicache")

_SOURCE = "srt/arg_groups/hicache_hook.py"


def _kernel_with_fa3(s: State) -> bool:
    used = s.enable_hierarchical_cache or s.disaggregation_decode_enable_offload_kvcache
    if not used or s.hicache_io_backend != "kernel":
        return False
    if not at_least(s, "0.5.8") and s.decode_attention_backend is None:
        return True
    return bool((s.decode_attention_backend or s.attention_backend) == "fa3")


def _stores_pages(s: State) -> bool:
    stores = ("mooncake", "npu_memcache") if at_least(s, "0.5.18") else ("mooncake",)
    if s.hicache_storage_backend not in stores or s.hicache_mem_layout != "layer_first":
        return False
    return s.hicache_io_backend in ("direct", "kernel") and not (s.dcp_size or 1) > 1 and hicache_active(s)


ROWS = (
    Row(
        "H2",
        SETS,
        when=lambda s: s.hicache_mem_layout == "page_first_direct" and s.hicache_io_backend == "kernel" and hicache_active(s),
        versions="0.5.5..",
        sets="hicache-io-backend",
        value="direct",
        says="hicache-mem-layout page_first_direct sets hicache-io-backend to direct. Write that.",
        fix=(Set("hicache-io-backend", "direct", SAFE),),
        source=_SOURCE,
        order=20,
        bad="--enable-hierarchical-cache --hicache-mem-layout page_first_direct --hicache-io-backend kernel "
        "@ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--hicache-io-backend direct",
    ),
    Row(
        "H3",
        SETS,
        when=lambda s: s.hicache_mem_layout == "page_first" and s.hicache_io_backend == "direct" and hicache_active(s),
        versions="0.5.10..",
        sets="hicache-mem-layout",
        value="page_first_direct",
        says="hicache-io-backend direct sets hicache-mem-layout to page_first_direct. Write that.",
        fix=(Set("hicache-mem-layout", "page_first_direct", SAFE),),
        source=_SOURCE,
        order=22,
    ),
    Row(
        "H4",
        SETS,
        when=lambda s: s.decode_attention_backend is None and _kernel_with_fa3(s),
        versions="0.5.5..0.5.12",
        sets="decode-attention-backend",
        value=lambda s: ("flashinfer" if cuda_major(s) == 10 else "triton") if is_mla(s) else "flashinfer",
        source="srt/server_args.py",
        order=26,
    ),
    Row(
        "H4",
        SETS,
        when=lambda s: s.given("decode-attention-backend") and s.decode_attention_backend == "fa3" and _kernel_with_fa3(s),
        versions="0.5.5..0.5.12",
        sets="hicache-io-backend",
        value="direct",
        says="HiCache's kernel copies do not work with fa3 decoding, so hicache-io-backend becomes direct. Write that.",
        fix=(Set("hicache-io-backend", "direct", SAFE),),
        source="srt/server_args.py",
        order=27,
    ),
    Row(
        "H5",
        SETS,
        when=_stores_pages,
        versions="0.5.5..",
        sets="hicache-mem-layout",
        value=lambda s: "page_first_direct" if s.hicache_io_backend == "direct" else "page_first",
        says="hicache-storage-backend {hicache_storage_backend} sets hicache-mem-layout to {hicache_mem_layout}. Write that.",
        fix=(Set("hicache-mem-layout", lambda s: s.hicache_mem_layout, SAFE),),
        source=_SOURCE,
        order=28,
        bad="--enable-hierarchical-cache --hicache-storage-backend mooncake --hicache-mem-layout layer_first "
        "@ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--hicache-mem-layout page_first",
    ),
    Row(
        "H5",
        SETS,
        when=lambda s: s.hicache_storage_backend == "mooncake",
        versions="0.5.2..0.5.2",
        sets=("hicache-io-backend", "hicache-mem-layout"),
        value=("kernel", "page_first"),
        says="hicache-storage-backend mooncake sets hicache-io-backend to kernel and hicache-mem-layout to page_first.",
        source="srt/server_args.py",
        order=28,
    ),
)
