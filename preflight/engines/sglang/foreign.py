"""Flags of vLLM that people give to SGLang, and what SGLang has for them (facts: vLLM 0.12.0 to 0.20.2, its own flag names)."""

from __future__ import annotations

from preflight.catalog.load import Successor


def _instead(kind: str, argv: tuple[str, ...] = (), note: str = "") -> Successor:
    return Successor(kind, argv, {}, note)


FOREIGN = {
    "--max-model-len": _instead("renamed", ("--context-length",)),
    "--max-num-seqs": _instead("renamed", ("--max-running-requests",)),
    "--max-num-reqs": _instead("renamed", ("--max-running-requests",)),
    "--gpu-memory-utilization": _instead(
        "related", ("--mem-fraction-static",), "That is a share of all GPU memory; here it is one of what is free before loading."
    ),
    "--max-num-batched-tokens": _instead("related", ("--chunked-prefill-size",)),
    "--block-size": _instead("related", ("--page-size",)),
    "--enable-expert-parallel": _instead("related", ("--ep-size",)),
    "--enable-reasoning": _instead("related", ("--reasoning-parser",)),
    "--enable-prefix-caching": _instead("default"),
    "--enable-chunked-prefill": _instead("default"),
    "--no-enable-prefix-caching": _instead("renamed", ("--disable-radix-cache",)),
    "--enforce-eager": _instead("renamed", ("--disable-cuda-graph",)),
}
