"""Synthetic logs of every generation parse to the figures that were written into them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from preflight.logs.boot import CUT, FAILED, STARTED, Boot
from preflight.logs.reader import read_text
from preflight.units import GIB
from tests.logs.writing import BASE, RANK, SGLANG, VLLM, sglang, vllm


def one(lines: list[str]) -> Boot:
    (boot,) = read_text("\n".join(lines))
    return boot


def gib(boot: Boot, name: str) -> float:
    return round(boot.figures[name].bytes / GIB, 4)


@pytest.mark.parametrize("version", SGLANG)
def test_sglang_of_every_generation(version: str) -> None:
    ranks = [{**RANK, "before": 94.0 - index / 8, "after": 21.7 - index / 100} for index in range(8)]
    boot = one(sglang(version, ranks))
    assert (boot.engine, boot.outcome, boot.complete, boot.resolved) == ("sglang", STARTED, True, True)
    assert {name: boot.settings[name] for name in BASE} == BASE
    assert gib(boot, "free-before-load") == 93.12  # 94.0 - 7/8 as printed
    assert gib(boot, "free-after-load") == 21.63
    assert gib(boot, "weights") == 72.3
    assert gib(boot, "kv-cache") == 10.42
    assert gib(boot, "graphs") == 1.5
    assert boot.counts["kv-tokens"] == 159171
    assert boot.counts["context-length"] == 262144
    assert sorted(boot.by_rank) == [f"TP{index}" for index in range(8)]
    assert boot.figures["free-before-load"].slack == pytest.approx(0.005 * GIB)
    assert boot.figures["free-before-load"].rank == "TP7"


@pytest.mark.parametrize("version", ["0.5.15.post1", "0.5.20"])
def test_nested_records_are_read(version: str) -> None:
    assert one(sglang(version)).settings["cuda_graph_config"]["decode"]["bs"] == [1, 2, 4]


@pytest.mark.parametrize(("version", "after"), [("0.5.12.post1", 21.7), ("0.5.15.post1", 19.2)])
def test_a_draft_counts_where_it_is_loaded_before_the_pools(version: str, after: float) -> None:
    draft = {**RANK, "before": 21.7, "after": 19.2, "usage": 2.5, "tokens": 159171, "kv": 0.9}
    boot = one(sglang(version, [RANK, RANK], draft=draft))
    assert gib(boot, "free-after-load") == after
    assert gib(boot, "free-before-load") == 94.0
    assert gib(boot, "weights") == 72.3
    assert gib(boot, "draft-weights") == 2.5
    assert gib(boot, "kv-cache") == 10.42


def test_keys_and_values_add_up() -> None:
    assert gib(one(sglang("0.5.9", mha=True)), "kv-cache") == 10.42


@pytest.mark.parametrize("version", VLLM)
@pytest.mark.parametrize("workers", [1, 2])
def test_vllm_of_every_generation(version: str, workers: int) -> None:
    boot = one(vllm(version, workers))
    assert (boot.engine, boot.version, boot.outcome, boot.resolved) == ("vllm", version, STARTED, False)
    assert boot.settings == {"model": "Qwen/Qwen3-8B", "tensor_parallel_size": 2, "gpu_memory_utilization": 0.85}
    assert gib(boot, "weights") == (7.6403 if version == "0.12.0" else 7.64)
    assert gib(boot, "kv-cache") == pytest.approx(60.11 - (workers - 1))
    assert boot.counts == {"context-length": 40960, "kv-tokens": 437712}
    assert gib(boot, "graphs") == 0.54
    assert gib(boot, "activations") == 1.25
    assert gib(boot, "free-before-load") == 78.66
    assert gib(boot, "total") == 79.18


def test_a_cut_argument_line_gives_what_is_whole() -> None:
    lines = sglang("0.5.9")
    lines[0] = lines[0][: lines[0].index("chunked_prefill_size=") + len("chunked_prefill_size=81")]
    boot = one(lines)
    assert not boot.complete
    assert boot.settings == {"model_path": "moonshotai/Kimi-K2.5", "tp_size": 8, "mem_fraction_static": 0.88}


def test_colour_containers_and_json_wrappers_do_not_matter() -> None:
    plain = one(sglang("0.5.9"))
    wraps: tuple[Callable[[str], str], ...] = (
        lambda line: f"\x1b[32m{line}\x1b[0m",
        lambda line: f"server-1  | {line}",
        lambda line: f"[pod/kimi-0/server] {line}",
        lambda line: f"2026-11-30T10:00:00.123456789Z {line}",
        lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-11-30T10:00:00Z"}),
        lambda line: f"Loading 10%\rLoading 20%\r{line}\r",
    )
    for wrap in wraps:
        boot = one([wrap(line) for line in sglang("0.5.9")])
        assert (boot.settings, boot.figures, boot.counts) == (plain.settings, plain.figures, plain.counts)


def test_utf_16_is_read() -> None:
    import io

    from preflight.logs.reader import read_stream

    (boot,) = read_stream(io.BytesIO("\r\n".join(sglang("0.5.9")).encode("utf-16")))
    assert boot.figures == one(sglang("0.5.9")).figures


def test_two_servers_in_one_file_stay_apart() -> None:
    first, second = sglang("0.5.9"), sglang("0.5.9", [{**RANK, "before": 90.0}], {**BASE, "tp_size": 4})
    mixed = [line for pair in zip(first, second, strict=True) for line in (f"a-1  | {pair[0]}", f"b-1  | {pair[1]}")]
    a, b = read_text("\n".join(mixed))
    assert (a.source, a.settings["tp_size"], gib(a, "free-before-load")) == ("a-1", 8, 94.0)
    assert (b.source, b.settings["tp_size"], gib(b, "free-before-load")) == ("b-1", 4, 90.0)


def test_a_restart_is_another_boot() -> None:
    lines = sglang("0.5.9", stop="load")
    boots = read_text("\n".join([*lines, *sglang("0.5.9")]))
    assert [boot.outcome for boot in boots] == [CUT, STARTED]
    assert [boot.line for boot in boots] == [1, len(lines) + 1]


def test_a_restart_without_an_argument_line_is_another_boot() -> None:
    again = sglang("0.5.9", [{**RANK, "before": 93.0}])[1:]
    boots = read_text("\n".join([*sglang("0.5.9"), *again]))
    assert [gib(boot, "free-before-load") for boot in boots] == [94.0, 93.0]


def test_hints_before_the_first_line_belong_to_the_boot() -> None:
    head = [
        "+ export NCCL_ALGO=Ring",
        "Successfully installed sglang==0.5.9",
        "| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0 |",
        "gpu01:88:88 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.",
    ]
    boot = one([*head, *sglang("0.5.9")])
    assert boot.version == "0.5.9"
    assert boot.env == {"NCCL_ALGO": "Ring", "driver": "580.95.05", "cuda": "13.0", "NCCL_P2P_DISABLE": "1"}


NO_POOL = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.55"
NOTHING_LEFT = (
    "ValueError: Loaded weights leave no GPU memory for the KV cache. Raise --mem-fraction-static above 0.770 (minimum viable)"
)
TORCH = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}."
TORCH_FULL = f"{TORCH} GPU 3 has a total capacity of 94.97 GiB of which {{}} is free."


@pytest.mark.parametrize(
    ("stop", "text", "kind", "stage", "direction"),
    [
        ("load", NO_POOL, "no-pool-memory", "kv-sizing", "raise"),
        ("load", NOTHING_LEFT, "weights-leave-nothing", "kv-sizing", "raise"),
        ("pool", "Capture cuda graph failed: CUDA out of memory", "graph-capture", "capture", "lower"),
        ("pool", TORCH_FULL.format("2.00 GiB", "512.00 MiB"), "out-of-memory", "capture", "lower"),
        ("load", TORCH.format("2.00 GiB"), "out-of-memory", "kv-sizing", "lower"),
    ],
)  # fmt: skip
def test_a_failure_is_told_with_its_moment_and_direction(stop: str, text: str, kind: str, stage: str, direction: str) -> None:
    lines = [*sglang("0.5.9", stop=stop), "[2026-11-30 10:05:00] Scheduler hit an exception: Traceback", text]
    boot = one([*lines, "RuntimeError: Rank 0 scheduler died"])
    assert boot.outcome == FAILED
    assert boot.failure is not None
    assert (boot.failure.kind, boot.failure.stage, boot.failure.direction) == (kind, stage, direction)
    assert boot.failure.line == len(lines)


def test_weights_that_do_not_fit_want_neither() -> None:
    boot = one(
        [
            *sglang("0.5.9")[:4],
            TORCH_FULL.format("1.50 GiB", "900.25 MiB"),
        ]
    )
    assert boot.failure is not None
    assert (boot.failure.stage, boot.failure.direction) == ("load", "neither")
    assert boot.failure.numbers == {"wanted_gib": 1.5, "total_gib": 94.97, "free_gib": pytest.approx(0.87915)}


def test_vllm_failures_carry_their_numbers() -> None:
    text = (
        "(EngineCore_DP0 pid=9) ERROR 11-30 10:00:00 [core.py:1] ValueError: To serve at least one request with the model's "
        "max seq "
        "len (131072), (18.0 GiB KV cache is needed, which is larger than the available KV cache memory (9.51 GiB). Based on the "
        "available memory, the estimated maximum model length is 69248."
    )
    boot = one([*vllm("0.20.2", stop="loaded"), text, "RuntimeError: Engine core initialization failed. See root cause above."])
    assert boot.failure is not None
    assert boot.failure.kind == "context-does-not-fit"
    assert boot.failure.numbers == {"context": 131072, "needed_gib": 18.0, "available_gib": 9.51, "estimate": 69248}
    text = (
        "ValueError: Free memory on device cuda:0 (60.1/79.18 GiB) on startup is less than desired GPU memory utilization "
        "(0.9, 71.26 GiB)."
    )
    boot = one([*vllm("0.20.2", stop="load"), text])
    assert boot.failure is not None
    assert (boot.failure.kind, boot.failure.direction) == ("free-below-utilization", "lower")
    assert boot.failure.numbers["free_gib"] == 60.1


def test_a_message_of_two_lines_gives_its_figures() -> None:
    lines = [
        "[2026-11-30 10:05:00 TP0] Load weight begin. avail mem=138.00 GB",
        "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88.",
        "  Raise --mem-fraction-static above 0.912 (minimum viable fraction here)",
    ]
    boot = one([sglang("0.5.18", settings={"tp_size": 8})[0], *lines])
    assert boot.failure is not None
    assert boot.failure.numbers == {"fraction": 0.88, "minimum": 0.912}


def test_source_lines_of_a_traceback_are_no_messages() -> None:
    lines = [
        '(EngineCore_DP0 pid=9) ERROR 11-30 10:00:00 [c.py:1]     raise ValueError("No available memory for the cache blocks. "',
        "(EngineCore_DP0 pid=9) ERROR 11-30 10:00:00 [c.py:1] ValueError: No available memory for the cache blocks. Try more.",
    ]
    boot = one([*vllm("0.20.2", stop="loaded"), *lines])
    assert boot.failure is not None
    assert boot.failure.line == len(vllm("0.20.2", stop="loaded")) + 2


def test_a_failed_capture_tells_what_was_missing() -> None:
    text = f"Exception: Capture cuda graph failed: {TORCH_FULL.format('448.00 MiB', '192.00 MiB')}"
    boot = one([*sglang("0.5.9", stop="pool"), text])
    assert boot.failure is not None
    assert (boot.failure.kind, boot.failure.numbers["wanted_gib"]) == ("graph-capture", 0.4375)


def test_short_time_stamps_have_ranks_too() -> None:
    boot = one(["server_args=ServerArgs(tp_size=2)", "[23:17:01 TP1] Load weight begin. avail mem=22.01 GB"])
    assert list(boot.by_rank) == ["TP1"]


def test_several_api_servers_are_one_boot() -> None:
    lines = vllm("0.20.2")
    assert len(read_text("\n".join([lines[0].replace("APIServer", "ApiServer_1"), *lines]))) == 1


def test_a_request_that_quotes_a_failure_is_none() -> None:
    lines = [
        "[2026-11-30 11:00:00] Receive: obj=GenerateReqInput(text='torch.OutOfMemoryError: CUDA out of memory. Why? Error: x')",
        "[2026-11-30 11:00:00] POST /generate: we are out of memory for this",
    ]
    assert one([*sglang("0.5.9"), *lines]).outcome == STARTED
    assert one([*sglang("0.5.9"), *lines, TORCH.format("2.00 GiB")]).outcome == FAILED
    assert (
        one([*vllm("0.20.2"), f"(EngineCore_DP0 pid=9) ERROR 11-30 10:00:00 [c.py:1] {TORCH.format('2.00 GiB')}"]).outcome
        == FAILED
    )
