"""Synthetic boot logs in the shapes of each generation, with figures that the caller chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Figures = Mapping[str, float]
SGLANG = ("0.4.6.post5", "0.5.2", "0.5.8", "0.5.9", "0.5.10.post1", "0.5.12.post1", "0.5.15.post1", "0.5.18", "0.5.20", "0.5.23")
VLLM = ("0.12.0", "0.20.2", "0.33.0")
BASE = {
    "model_path": "moonshotai/Kimi-K2.5",
    "tp_size": 8,
    "mem_fraction_static": 0.88,
    "chunked_prefill_size": 8192,
    "lora_paths": None,
    "disable_radix_cache": False,
    "served_model_name": "it's, (odd) {name}",
}
RANK = {"before": 94.0, "after": 21.7, "usage": 72.3, "tokens": 159171, "kv": 10.42, "pool_end": 10.9, "graphs": 1.5, "late": 9.4}


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition(".post")[0].split("."))


def arguments(version: str, settings: Mapping[str, Any]) -> str:
    nested: dict[str, Any] = dict(settings)
    if number(version) >= (0, 5, 20):
        nested["cuda_graph_config"] = {"decode": {"bs": [1, 2, 4]}, "prefill": None}
        return f"server_args={nested!r}"
    fields = ", ".join(f"{name}={value!r}" for name, value in nested.items())
    if number(version) >= (0, 5, 15):
        fields += ", cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(bs=[1, 2, 4], backend='full'), prefill=None)"
    return f"server_args=ServerArgs({fields})"


def in_turn(by_rank: Iterable[list[str]]) -> list[str]:
    """The first line of every rank, then the second of every rank, and so on."""
    return [line for lines in zip(*by_rank, strict=True) for line in lines]


def sglang(
    version: str,
    ranks: Sequence[Figures] = (RANK,),
    settings: Mapping[str, Any] = BASE,
    *,
    draft: Figures | None = None,
    stop: str = "",
    mha: bool = False,
) -> list[str]:
    """`stop`: after which phase the log ends: load, pool, graphs; empty: it starts."""
    new = number(version)
    clock = "[2026-11-30 10:00:00"
    lines = [f"{clock}] {arguments(version, settings)}"]

    def tag(index: int) -> str:
        return f"{clock} TP{index}]" if len(ranks) > 1 else f"{clock}]"

    def loads(index: int, figures: Figures) -> list[str]:
        lead = tag(index)
        kind = "" if new >= (0, 5, 15) else "type=KimiForCausalLM, " + ("dtype=torch.bfloat16, " if new < (0, 5, 10) else "")
        elapsed = "elapsed=210.13 s, " if new >= (0, 5, 9) else ""
        return [
            f"{lead} Load weight begin. avail mem={figures['before']:.2f} GB",
            f"{lead} Load weight end. {elapsed}{kind}avail mem={figures['after']:.2f} GB, mem usage={figures['usage']:.2f} GB.",
        ]

    def pool(index: int, figures: Figures) -> str:
        dtype = "dtype: torch.bfloat16, " if new >= (0, 5, 15) else ""
        half = figures["kv"] / 2
        sizes = f"K size: {half:.2f} GB, V size: {half:.2f} GB" if mha else f"KV size: {figures['kv']:.2f} GB"
        return f"{tag(index)} KV Cache is allocated. {dtype}#tokens: {figures['tokens']}, {sizes}"

    def graphs(index: int, figures: Figures) -> list[str]:
        lead = tag(index)
        used, left = f"mem usage={figures['graphs']:.2f} GB", f"avail mem={figures['late']:.2f} GB"
        if new < (0, 5, 15):
            return [
                f"{lead} Capture cuda graph begin. This can take up to several minutes. avail mem={figures['pool_end']:.2f} GB",
                f"{lead} Capture cuda graph end. Time elapsed: 31.20 s. {used}. {left}.",
            ]
        sizes = "bs=[1, 2, 4], " if new >= (0, 5, 23) else ""
        return [
            f"{lead} Capture target decode CUDA graph begin. backend=full, num_tokens_per_bs=1, avail "
            f"mem={figures['pool_end']:.2f} GB",
            f"{lead} Capture target decode CUDA graph end. {sizes}elapsed=31.20 s, {used}, {left}.",
        ]

    def groups(index: int) -> list[str]:
        if new >= (0, 5, 23):
            ends = "Init parallel ends. elapsed=3.10 s", "Memory baseline taken. mem usage=0.02 GB"
            return [f"{tag(index)} {text}" for text in ("Init parallel begin.", *ends)]
        elapsed = "elapsed=3.10 s, " if new >= (0, 5, 9) else ""
        return [
            f"{tag(index)} Init torch distributed begin.",
            f"{tag(index)} Init torch distributed ends. {elapsed}mem usage=0.61 GB",
        ]

    lines += in_turn(groups(index) for index in range(len(ranks)))
    lines += in_turn(loads(index, figures) for index, figures in enumerate(ranks))
    if draft is not None and new >= (0, 5, 15):
        lines += in_turn(loads(index, draft) for index in range(len(ranks)))
    if stop == "load":
        return lines
    lines += [pool(index, figures) for index, figures in enumerate(ranks)]
    lines += [f"{tag(index)} Memory pool end. avail mem={figures['pool_end']:.2f} GB" for index, figures in enumerate(ranks)]
    if draft is not None and new < (0, 5, 15):
        lines += in_turn(loads(index, draft) for index in range(len(ranks)))
        lines += [pool(index, draft) for index in range(len(ranks))]
    if stop == "pool":
        return lines
    lines += in_turn(graphs(index, figures) for index, figures in enumerate(ranks))
    free = ", available_gpu_mem=9.40 GB" if new >= (0, 5, 2) else ""
    tokens = min(int(figures["tokens"]) for figures in ranks)
    lines.append(
        f"{tag(0)} max_total_num_tokens={tokens}, chunked_prefill_size=8192, max_prefill_tokens=16384, "
        f"max_running_requests=2048, context_len=262144{free}"
    )
    if stop == "graphs":
        return lines
    return [*lines, f"{clock}] The server is fired up and ready to roll!"]


def vllm(version: str, workers: int = 1, *, stop: str = "") -> list[str]:
    new = number(version)
    clock = "INFO 11-30 10:00:00"

    def by(name: str, place: str, text: str, level: str = "INFO") -> str:
        stamp = f"{level} 11-30 10:00:00 [{place}]"
        return f"({name} pid=411) {stamp} {text}"

    names = [f"Worker_TP{index}" for index in range(workers)] if workers > 1 else ["EngineCore_DP0"]
    lines = [
        by("APIServer", "api_server.py:1", f"vLLM API server version {version}"),
        by(
            "APIServer",
            "utils.py:2",
            "non-default args: {'model': 'Qwen/Qwen3-8B', 'tensor_parallel_size': 2, 'gpu_memory_utilization': 0.85}",
        ),
        f"{clock} [model.py:3] Using max model len 40960",
        by(
            "EngineCore_DP0",
            "core.py:4",
            f"Initializing a V1 LLM engine (v{version}) with config: model='Qwen/Qwen3-8B', tensor_parallel_size=2, x={{'a': 1}}",
        ),
    ]
    lines += [by(name, "gpu_model_runner.py:5", "Starting to load model Qwen/Qwen3-8B...") for name in names]
    if stop == "load":
        return lines
    loaded = (
        "Model loading took 7.6403 GiB memory and 2.113456 seconds"
        if new < (0, 20)
        else "Model loading took 7.64 GiB memory and 2.1 seconds"
    )
    lines += [by(name, "gpu_model_runner.py:6", loaded) for name in names]
    if stop == "loaded":
        return lines
    lines += [
        by(name, "gpu_worker.py:7", f"Available KV cache memory: {60.11 - index:.2f} GiB") for index, name in enumerate(names)
    ]
    if new < (0, 33):
        lines += [by("EngineCore_DP0", "kv_cache_utils.py:8", "GPU KV cache size: 437,712 tokens")]
        lines += [by("EngineCore_DP0", "kv_cache_utils.py:9", "Maximum concurrency for 40,960 tokens per request: 10.69x")]
    else:
        text = "GPU KV cache size: 437,712 tokens, Maximum concurrency for 40,960 tokens per request: 10.69x"
        lines += [by("EngineCore_DP0", "kv_cache_utils.py:8", text)]
    lines += [by(name, "gpu_model_runner.py:10", "Graph capturing finished in 5 secs, took 0.54 GiB") for name in names]
    usage = (
        "1.90 GiB for consumed memory (weights + non-torch), 1.25 GiB for peak activation, and 0.54 GiB for CUDAGraph memory"
        if new >= (0, 33)
        else "7.64 GiB for weight, 1.25 GiB for peak activation, 0.10 GiB for non-torch memory, and 0.54 GiB for CUDAGraph memory"
    )
    text = (
        "Free memory on device (78.66/79.18 GiB) on startup. Desired GPU memory utilization is (0.85, 67.30 GiB). "
        f"Actual usage is {usage}."
    )
    lines += [by(name, "gpu_worker.py:11", text) for name in names]
    return [*lines, "(APIServer pid=1) INFO:     Application startup complete."]
