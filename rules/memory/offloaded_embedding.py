"""Per-layer embeddings are offloaded in two ways at once.

## What it does
Checks ple-offload-embedding against the other kinds of offload and the place of the table.

## Why
The offloaded table is read from host memory in place. A general layer offload would carry it back to the GPU, and a
table in a file is the offloaded one, so it cannot go with an embedding that stays.

## Source
sglang 0.5.20 and 0.5.23 srt/arg_groups/memory_hook.py `handle_offload_compatibility`.
"""

from preflight.engines.steps import REFUSES, Row, Set, Topic

TOPIC = Topic("MEM048", "offloaded-embedding", "sglang", "early")
_SOURCE = "srt/arg_groups/memory_hook.py handle_offload_compatibility"

ROWS = (
    Row(
        "M13",
        REFUSES,
        when=lambda s: s.ple_offload_embedding and ((s.cpu_offload_gb or 0) > 0 or (s.offload_group_size or 0) > 0),
        versions="0.5.20..",
        says="ple-offload-embedding does not work with cpu-offload-gb or offload-group-size. Take one of them out.",
        at="ple-offload-embedding",
        fix=(Set("ple-offload-embedding", None),),
        source=_SOURCE,
        bad="--ple-offload-embedding --cpu-offload-gb 4 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--cpu-offload-gb 0",
    ),
    Row(
        "M13-file",
        REFUSES,
        when=lambda s: s.ple_offload_backend == "file" and s.given("ple-offload-embedding") and not s.ple_offload_embedding,
        versions="0.5.20..",
        says="ple-offload-backend file keeps the offloaded table, but the embedding is not offloaded. Take "
        "--no-ple-offload-embedding "
        "out.",
        at="ple-offload-backend",
        fix=(Set("ple-offload-backend", None),),
        source=_SOURCE,
        bad="--ple-offload-backend file --no-ple-offload-embedding @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--ple-offload-backend file @ 0.5.23 8x-h100-80 llama-3.1-8b",
    ),
)
