"""CUDA graphs as SGLang resolves them: backend and sizes of the decode and the prefill phase.

Up to 0.5.12 there are two switches (`disable-cuda-graph`, and a piecewise graph for prefill), from 0.5.15 on a backend for
each phase. Read in srt/server_args.py (from 0.5.20 on srt/arg_groups/cuda_graph_hook.py and memory_hook.py).
"""

from __future__ import annotations

import json
from typing import Any

from preflight.engines.sglang.facts import (
    at_least,
    breakable_default,
    on_cuda,
    piecewise_reasons,
    prefill_graph_list,
    prefill_graph_most,
)
from preflight.engines.steps import FILE, MODEL_OVERRIDE, SETS, UNKNOWN, Row, State, Unknown

DECODE, PREFILL = "cuda-graph-backend-decode", "cuda-graph-backend-prefill"
_KEYS = {
    ("decode", "backend"): DECODE,
    ("prefill", "backend"): PREFILL,
    ("decode", "max_bs"): "cuda-graph-max-bs",
    ("prefill", "max_bs"): "cuda-graph-max-bs-prefill",
    ("decode", "bs"): "cuda-graph-bs",
    ("prefill", "bs"): "cuda-graph-bs-prefill",
    ("prefill", "max_context_size"): "cuda-graph-prefill-max-context",
}


def config(s: State) -> dict[str, Any]:
    """--cuda-graph-config as an object; Unknown where it is none, which the parser refuses."""
    value = s.cuda_graph_config
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise Unknown("cuda-graph-config") from None
    if not isinstance(value, dict) or not all(isinstance(phase, dict) for phase in value.values()):
        raise Unknown("cuda-graph-config")
    return value


def _configured(s: State) -> tuple[Any, ...]:
    """The settings of `_KEYS`, with what the JSON says in place of the flags."""
    given = config(s)
    values = []
    for (phase, key), name in _KEYS.items():
        setting = s.settings.get(name)
        s.reads[name] = None
        values.append(given.get(phase, {}).get(key, setting.value if setting else None))
    return tuple(values)


def decode_sizes(s: State) -> list[int]:
    """The batch sizes that decode graphs are captured for, since 0.5.5."""
    most = int(s.cuda_graph_max_bs)
    if s.disable_cuda_graph_padding:
        return list(range(1, most + 1))
    if s.speculative_algorithm is None:
        sizes = [1, 2, 4, 8, 12, *range(16, 257, 8), *range(272, 512, 16), *range(512, most + 1, 32)]
    else:
        sizes = [*range(1, 9), *range(10, 33, 2), *range(40, 65, 4), *range(72, 257, 8), *range(272, most + 1, 16)]
    sizes = [size for size in sizes if size <= most]
    return [*sizes, most] if at_least(s, "0.5.10") and most not in sizes else sizes


def _largest(s: State) -> int:
    sizes = s.cuda_graph_bs
    if not sizes or UNKNOWN in sizes:
        raise Unknown("cuda-graph-bs")
    return int(max(sizes))


def _in_eights(s: State) -> tuple[list[int], int]:
    """The prefill sizes with DeepEP: multiples of 8, as other sizes can hang its exchange under capture."""
    given, most = s.cuda_graph_bs_prefill, s.cuda_graph_max_bs_prefill
    sizes = given if given is not None else prefill_graph_list(s, most or 2048)
    if not sizes or UNKNOWN in sizes:
        raise Unknown("cuda-graph-bs-prefill")
    aligned = sorted({-(-size // 8) * 8 for size in sizes})
    return (list(sizes), most) if aligned == sorted(sizes) else (aligned, aligned[-1])


def prefill_graph_off(s: State) -> bool:
    """Whether the default prefill graph is turned off for what the launch is."""
    return not breakable_default(s)


_SOURCE = "srt/server_args.py (0.5.20: srt/arg_groups/cuda_graph_hook.py), CUDA graph configuration"
_MEMORY = "srt/server_args.py (0.5.20: srt/arg_groups/memory_hook.py), memory handler"

CONFIG_ROWS = (
    Row(
        "G20-decode",
        SETS,
        when=lambda s: s.cuda_graph_backend_decode is None and (s.disable_cuda_graph or s.disable_decode_cuda_graph),
        versions="0.5.15..",
        sets=DECODE,
        value="disabled",
        origin=FILE,
        source=_SOURCE,
        order=10,
    ),
    Row(
        "G20-prefill",
        SETS,
        when=lambda s: s.cuda_graph_backend_prefill is None and (s.disable_cuda_graph or s.disable_prefill_cuda_graph),
        versions="0.5.15..",
        sets=PREFILL,
        value="disabled",
        origin=FILE,
        source=_SOURCE,
        order=10,
    ),
    Row(
        "G20-json",
        SETS,
        when=lambda s: s.cuda_graph_config is not None,
        versions="0.5.15..",
        sets=tuple(_KEYS.values()),
        value=_configured,
        origin=FILE,
        source=_SOURCE,
        order=20,
    ),
    Row(
        "G2",
        SETS,
        when=lambda s: s.disaggregation_mode == "prefill" and not s.given(DECODE),
        versions="0.5.18..",
        sets=DECODE,
        value="disabled",
        source=_SOURCE,
        order=50,
    ),
    Row(
        "G3",
        SETS,
        when=lambda s: s.disaggregation_mode == "decode" and not s.given(PREFILL),
        versions="0.5.18..",
        sets=PREFILL,
        value="disabled",
        source=_SOURCE,
        order=50,
    ),
    Row(
        "G8-decode",
        SETS,
        when=lambda s: s.cuda_graph_backend_decode is None,
        versions="0.5.15..",
        sets=DECODE,
        value="full",
        source=_SOURCE,
        order=40,
    ),
    Row(
        "G8",
        SETS,
        when=lambda s: s.cuda_graph_backend_prefill is None,
        versions="0.5.15..",
        sets=PREFILL,
        value=lambda s: "disabled" if not on_cuda(s) or prefill_graph_off(s) else "breakable",
        source=_SOURCE,
        order=40,
    ),
    Row(
        "G14",
        SETS,
        when=lambda s: s.moe_a2a_backend == "deepep" and s.cuda_graph_backend_prefill == "breakable",
        versions="0.5.18..",
        sets=("cuda-graph-bs-prefill", "cuda-graph-max-bs-prefill"),
        value=_in_eights,
        source=_SOURCE,
        order=45,
    ),
    Row(
        "G2-0.5.15",
        SETS,
        when=lambda s: s.disaggregation_mode == "prefill",
        versions="0.5.15..0.5.15",
        sets="disable-cuda-graph",
        value=True,
        source="srt/arg_groups/pd_disaggregation_hook.py",
        order=5,
    ),
    Row(
        "G9",
        SETS,
        when=lambda s: not s.enforce_piecewise_cuda_graph and not s.disable_piecewise_cuda_graph and piecewise_reasons(s),
        versions="0.5.10..0.5.12",
        sets="disable-piecewise-cuda-graph",
        value=True,
        source="srt/server_args.py, piecewise handler",
        order=40,
    ),
    Row(
        "G9-enforced",
        SETS,
        when=lambda s: s.enforce_piecewise_cuda_graph and s.disable_piecewise_cuda_graph,
        versions="0.5.10..0.5.12",
        sets="disable-piecewise-cuda-graph",
        value=False,
        source="srt/server_args.py, piecewise handler",
        order=40,
    ),
)

SIZE_ROWS = (
    Row(
        "G5",
        SETS,
        when=lambda s: bool(s.cuda_graph_bs),
        versions="0.5.5..",
        sets="cuda-graph-max-bs",
        value=_largest,
        source=_MEMORY,
    ),
    Row(
        "G6",
        SETS,
        when=lambda s: s.cuda_graph_bs is None and s.cuda_graph_max_bs is not None,
        versions="0.5.5..",
        sets="cuda-graph-bs",
        value=decode_sizes,
        source=_MEMORY,
    ),
    Row(
        "G21",
        SETS,
        when=lambda s: s.cuda_graph_max_bs_prefill is None,
        versions="0.5.8..",
        sets="cuda-graph-max-bs-prefill",
        value=prefill_graph_most,
        source=_MEMORY,
    ),
    Row(
        "G21-context",
        SETS,
        when=lambda s: s.context_length is not None and s.context_length < s.cuda_graph_max_bs_prefill,
        versions="0.5.15..0.5.15",
        sets="cuda-graph-max-bs-prefill",
        value=lambda s: s.context_length,
        source=_MEMORY,
    ),
)


def _deepseek_trtllm_mla(s: State) -> bool:
    if s.given(PREFILL) or s.cuda_graph_backend_prefill == "disabled":
        return False
    prefill = s.prefill_attention_backend or s.attention_backend
    return bool(prefill == "trtllm_mla" and s.model.architecture == "DeepseekV3ForCausalLM")


def _bypasses_routing(s: State) -> bool:
    """MoE runners whose routing the piecewise graph cannot capture."""
    if s.moe_runner_backend not in ("flashinfer_trtllm", "flashinfer_mxfp4") or s.enforce_piecewise_cuda_graph:
        return False
    return bool(s.model.architecture != "GptOssForCausalLM")


LATE_ROWS = (
    Row(
        "G9-moe",
        SETS,
        when=_bypasses_routing,
        versions="0.5.10..0.5.12",
        sets="disable-piecewise-cuda-graph",
        value=True,
        source="srt/server_args.py _handle_moe_kernel_config",
        step="moe",
        order=90,
    ),
    Row(
        "P6-reported",
        SETS,
        when=lambda s: s.attn_dp_size > 1,
        versions="0.5.23..",
        sets="enable-dp-attention",
        value=True,
        source="srt/server_args.py resolved_dict",
        step="graph-final",
        order=90,
    ),
    Row(
        "G15",
        SETS,
        when=_deepseek_trtllm_mla,
        versions="0.5.15..",
        sets=PREFILL,
        value="disabled",
        origin=MODEL_OVERRIDE,
        source=_SOURCE,
        step="attention",
        order=90,
    ),
)
