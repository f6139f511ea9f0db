"""What SGLang chooses for itself: chunk, graph sizes, memory fraction.

Formulas: 0.4.6.post5 to 0.5.2 srt/server_args.py `__post_init__`; 0.5.5.post3 to 0.5.18 `_handle_gpu_memory_settings`;
0.5.20 and 0.5.23 srt/arg_groups/memory_hook.py. M is the GPU's memory in MiB as nvidia-smi reports it.
"""

from __future__ import annotations

from preflight.engines.sglang.facts import (
    algorithm,
    at_least,
    attention_dp,
    decode_graph_enabled,
    dp_attention,
    is_mla,
    multimodal,
    prefill_graph_enabled,
    prefill_graph_sizes,
    ranks,
)
from preflight.engines.sglang.graphs import SIZE_ROWS
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, State

MIB = 1 << 20


def gpu_mib(s: State) -> float:
    return float(s.gpu.memory / MIB)


def chunk(s: State) -> int:
    memory = gpu_mib(s)
    if not at_least(s, "0.4.10"):
        if s.disaggregation_mode not in (None, "null") and memory >= 25_000:
            return 16384
        return 2048 if memory < 25_000 else 8192
    if not at_least(s, "0.5.5"):
        return 2048 if memory < 35_840 else 8192 if memory < 163_840 else 16384
    if memory < 20_480:
        return 2048
    if memory < 35_840:
        return 4096 if at_least(s, "0.5.20") else 2048
    if memory < 61_440:
        return 4096
    return 8192 if memory < 163_840 else 16384


def decode_graph_size(s: State) -> int | None:
    """The largest batch that decode graphs are captured for; None leaves it to the model runner (up to 0.5.2)."""
    memory, many = gpu_mib(s), s.tp_size >= 4
    if not at_least(s, "0.5.5"):
        small = 25_000 if not at_least(s, "0.4.10") else 35_840
        return (80 if many else 8) if memory < small else None
    if memory < 20_480:
        size = 8
    elif memory < 35_840:
        size = (160 if many else 48) if at_least(s, "0.5.20") else (80 if many else 24)
    elif memory < 61_440:
        size = 160 if many else 32
    elif memory < 163_840:
        size = 512 if many else 256
    else:
        size = 512
    if at_least(s, "0.5.23") and s.given("max-running-requests"):
        size = min(size, s.max_running_requests)
    return size


def fraction(s: State) -> float:
    """The automatic memory fraction, before the multimodal factor."""
    memory = gpu_mib(s)
    if not at_least(s, "0.4.10"):
        return _fraction_0_4_6(memory, ranks(s))
    return float(round((memory - reserve_mib(s)) / memory, 3))


def _fraction_0_4_6(memory: float, n: int) -> float:
    value = 0.88
    if memory <= 81_920:
        value = 0.79 if n >= 16 else 0.81 if n >= 8 else 0.85 if n >= 4 else 0.87 if n >= 2 else 0.88
    if memory > 98_304:
        value = min(value + 49_152 * (1 - value) / memory, (memory - 18_432) / memory)
    return value


def reserve_mib(s: State) -> float:
    """What the automatic fraction keeps back for everything but weights and KV cache, in MiB."""
    if not at_least(s, "0.5.5"):
        return _reserve_by_tier(s)
    batch = s.cuda_graph_max_bs or 0
    reserve: float = 512 + _activations(s) + 128 * ranks(s)
    if not at_least(s, "0.5.15") or (decode_graph_enabled(s) and s.disaggregation_mode != "prefill"):
        reserve += 2 * batch
    if dp_attention(s) and not (at_least(s, "0.5.15") and s.disaggregation_mode == "prefill"):
        replicas = attention_dp(s)
        reserve += 3 * batch * replicas + (1.5 * batch * replicas if batch > 300 else 0)
    graph = prefill_graph_enabled(s)
    if graph and at_least(s, "0.5.8"):
        reserve += 1536 if is_mla(s) and at_least(s, "0.5.10") else 8 * prefill_graph_sizes(s)
        if at_least(s, "0.5.18") and s.moe_a2a_backend == "deepep":
            reserve += 1024
    if gpu_mib(s) > 61_440:
        reserve = max(reserve, 10_240)
    if graph and not at_least(s, "0.5.8"):
        reserve += 4096 // 4
    return reserve + _after_the_floor(s)


def _activations(s: State) -> float:
    if at_least(s, "0.5.15") and s.disaggregation_mode == "decode":
        requests = s.max_running_requests or s.cuda_graph_max_bs or 1
        return float(1.5 * max(requests * (s.speculative_num_draft_tokens or 1), 2048))
    tokens = s.chunked_prefill_size
    if tokens is None or tokens <= 0:
        tokens = s.max_prefill_tokens or 16384
    return float(1.5 * max(tokens, 2048))


def _after_the_floor(s: State) -> float:
    extra = 0.0
    name = algorithm(s)
    if name is not None and not at_least(s, "0.5.15"):
        extra += 6144 if name == "STANDALONE" else 0 if name == "NGRAM" else 4096 if at_least(s, "0.5.10") else 2048
    if at_least(s, "0.5.15") and s.moe_a2a_backend == "deepep":
        extra += 2048 if decode_graph_enabled(s) and s.disaggregation_mode != "prefill" else 0
    if at_least(s, "0.5.20") and s.device == "xpu":
        extra += 2048
    return extra


def _reserve_by_tier(s: State) -> float:
    memory, n = gpu_mib(s), ranks(s)
    if memory < 35_840:
        reserve = (2.8 + n / 10) * 1024
    elif memory < 92_160:
        reserve = (9.5 + n / 2) * 1024
    elif memory < 163_840:
        reserve = (12 + n / 2) * 1024
    else:
        reserve = 32 * 1024
    name = algorithm(s)
    if name is not None:
        reserve += 6144 if name == "STANDALONE" and at_least(s, "0.5.2") else 2048
    return reserve + (4096 if s.enable_dp_attention else 0)


def takes_vision_factor(s: State) -> bool:
    if s.given("mem-fraction-static") or not multimodal(s):
        return False
    if at_least(s, "0.5.9") and s.language_only:
        return False
    if at_least(s, "0.5.18") and (s.language_model_only or s.disaggregation_mode == "decode"):
        return False
    return s.model.known("vision") is not None


def vision_factor(s: State) -> float:
    """0.4.10 to 0.5.23 `adjust_mem_fraction_for_vlm`: by the tower's size against 24 layers of 1024."""
    vision = s.model.vision
    layers = 24 if vision.sglang_layers is None else vision.sglang_layers
    hidden = 1024 if vision.sglang_hidden is None else vision.sglang_hidden
    score = layers * hidden**2 / (24 * 1024**2)
    return float(0.95 * min(max(1 - 0.1 * (score - 1), 0.8), 1.05))


_SOURCE = "srt/server_args.py, memory handler (0.5.20: srt/arg_groups/memory_hook.py)"

MEMORY_ROWS = (
    Row(
        "M1",
        SETS,
        when=lambda s: s.chunked_prefill_size is None,
        sets="chunked-prefill-size",
        value=chunk,
        source=_SOURCE,
    ),
    Row(
        "M2",
        SETS,
        when=lambda s: s.cuda_graph_max_bs is None and s.cuda_graph_bs is None,
        sets="cuda-graph-max-bs",
        value=decode_graph_size,
        source=_SOURCE,
    ),
    *SIZE_ROWS,
    Row(
        "M3",
        SETS,
        when=lambda s: s.mem_fraction_static is None,
        sets="mem-fraction-static",
        value=fraction,
        source=_SOURCE,
    ),
    Row(
        "M5",
        SETS,
        when=takes_vision_factor,
        versions="0.4.10..",
        sets="mem-fraction-static",
        value=lambda s: s.mem_fraction_static * vision_factor(s),
        origin=MODEL_OVERRIDE,
        source="srt/server_args.py adjust_mem_fraction_for_vlm",
    ),
    Row(
        "M5-runner",
        SETS,
        when=multimodal,
        versions="..0.4.6",
        sets="mem-fraction-static",
        value=lambda s: s.mem_fraction_static * 0.90,
        origin=MODEL_OVERRIDE,
        source="srt/model_executor/model_runner.py",
    ),
)
