"""Weights and KV cells against public boots, record by record.

The records live outside the project: PREFLIGHT_TRUTH, or ../shared/truth beside the checkout. `pytest -s` prints the
tables. What a boot log prints as weights is taken as arithmetic plus the tables made while loading; load leftovers are
not added, so that the error shown is that of the arithmetic alone.
"""

import json
import os
import statistics
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from preflight.model.formats import DTYPE_BYTES
from preflight.model.kv import index_bytes, storing_layers, token_elements
from preflight.model.types import Model, Parallel
from preflight.model.weights import quantised_online, total, weight_rows
from preflight.profiles.find import find_gpu, find_model

GIB = 1 << 30
SLIDING_SHARE = 0.8  # SGLang's default size of the sliding pool, per token of the full one
FIRST_WITH_TWO_POOLS = (0, 5, 12)


def truth_folder() -> Path | None:
    named = os.environ.get("PREFLIGHT_TRUTH")
    folder = Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared" / "truth"
    return folder if (folder / "boots.jsonl").is_file() else None


TRUTH = truth_folder()
pytestmark = pytest.mark.skipif(TRUTH is None, reason="the public boots are not here: set PREFLIGHT_TRUTH")


class Line(NamedTuple):
    id: str
    engine: str
    model: str
    observed: float
    computed: float | None
    why_not: str = ""

    @property
    def error(self) -> float:
        assert self.computed is not None
        return abs(self.computed - self.observed) / self.observed


def records(kind: str) -> list[dict[str, Any]]:
    assert TRUTH is not None
    lines = (TRUTH / "boots.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for line in lines if kind in (record := json.loads(line))["score"]]


def parallel_of(record: dict[str, Any]) -> Parallel:
    flags = record["flags"]
    if record["engine"] == "vllm":
        tp = int(flags.get("tensor-parallel-size", 1))
        return Parallel(
            tp=tp, pp=int(flags.get("pipeline-parallel-size", 1)), ep=tp if flags.get("enable-expert-parallel") else 1
        )
    tp, deepep = int(flags.get("tp-size", 1)), bool(flags.get("enable-deepep-moe"))
    return Parallel(
        tp=tp,
        pp=int(flags.get("pp-size", 1)),
        attn_dp=int(flags.get("dp-size", 1)) if flags.get("enable-dp-attention") else 1,
        ep=tp if deepep else int(flags.get("ep-size", 1)),
        shared_experts_replicated=deepep,
    )


def weights_line(record: dict[str, Any]) -> Line:
    observed, engine, flags = record["observed"]["weights_gib"], record["engine"], record["flags"]
    model = find_model(record["model"])
    line = Line(record["id"], engine, record["model"], observed, None, "not in the catalogue")
    if not isinstance(model, Model):
        return line
    model = quantised_online(model, str(flags.get("quantization", "")))
    gpu, parallel = find_gpu(record["gpu"]), parallel_of(record)
    rows = weight_rows(model, parallel, engine, compute_capability=gpu.compute_capability if gpu else None)
    if rows is None:
        return line._replace(why_not=f"weights unknown: {', '.join(model.missing)}")
    parts = [rows, weight_rows(model, parallel, engine, "buffers") or ()]
    if engine == "vllm" and (flags.get("speculative-config") or {}).get("method") == "mtp":
        parts.append(weight_rows(model, parallel, engine, "mtp") or ())
    return line._replace(computed=sum(total(part) for part in parts) / GIB, why_not="")


def cell_line(record: dict[str, Any]) -> Line:
    observed, engine, flags = record["observed_extra"]["cell_bytes"], record["engine"], record["flags"]
    model = find_model(record["model"])
    line = Line(record["id"], engine, record["model"], observed, None, "not in the catalogue")
    if not isinstance(model, Model) or model.attention is None:
        return line
    stated = str(flags.get("kv-cache-dtype", "auto"))
    dtype = stated.replace("fp8", "fp8_e4m3") if stated == "fp8" else stated
    size = DTYPE_BYTES[(model.kv_cache_dtype or model.dtype or "bf16") if dtype == "auto" else dtype]
    two_pools = engine == "sglang" and tuple(int(part) for part in record["version"].split(".")[:3]) >= FIRST_WITH_TWO_POOLS
    cell = 0.0
    for group in model.attention:
        elements = token_elements(group, parallel_of(record).attn_tp)
        if elements is None:
            return line._replace(why_not="geometry unknown")
        share = SLIDING_SHARE if group.kind == "sliding" and two_pools else 1.0
        cell += share * storing_layers(group) * (elements * size + index_bytes(group))
    if engine == "vllm" and (flags.get("speculative-config") or {}).get("method") == "eagle":
        cell *= 1 + 1 / (model.layers or 1)  # one draft layer of the target's shape
    return line._replace(computed=cell, why_not="")


def show(title: str, lines: list[Line]) -> None:
    print(f"\n{title}: {len(lines)} records")
    for line in lines:
        figure = f"{line.computed:12.3f} {100 * line.error:6.2f} %" if line.computed is not None else f"{line.why_not}"
        print(f"{line.id:17} {line.engine:6} {line.model:56} {line.observed:12.3f} {figure}")


def test_weights_of_public_boots() -> None:
    lines = [weights_line(record) for record in records("weights")]
    show("weights, GiB per GPU", lines)
    answered = [line for line in lines if line.computed is not None]
    errors = sorted(line.error for line in answered)
    print(
        f"answered {len(answered)} of {len(lines)}, median {100 * statistics.median(errors):.2f} %, "
        f"90th percentile {100 * errors[int(0.9 * len(errors))]:.2f} %"
    )
    assert len(answered) >= 0.9 * len(lines)
    assert statistics.median(errors) <= 0.01
    assert errors[int(0.9 * len(errors))] <= 0.04


def test_cells_of_public_boots() -> None:
    lines = [cell_line(record) for record in records("cell")]
    show("KV cell, bytes per token and GPU", lines)
    good = [line for line in lines if line.computed is not None and line.error <= 0.01]
    print(f"within 1 %: {len(good)} of {len(lines)}")
    assert len(good) >= 0.95 * len(lines)
