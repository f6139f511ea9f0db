"""Weights per GPU against published arithmetic and measured loads."""

import pytest

from preflight.model.types import Component, Model, Parallel
from preflight.model.weights import stage_layers, total, weight_rows
from preflight.profiles.find import find_model

GIB = 1 << 30


def catalogue(name: str) -> Model:
    model = find_model(name)
    assert isinstance(model, Model)
    return model


def rows_gib(model: Model, parallel: Parallel, engine: str = "sglang") -> dict[str, float]:
    rows = weight_rows(model, parallel, engine)
    assert rows is not None
    sums: dict[str, float] = {}
    for row in rows:
        sums[row.name] = sums.get(row.name, 0) + row.bytes_expected / GIB
    return sums


# The worked split of Kimi-K2.5 INT4 over 8 ranks; packed experts and their scales are one row here.
KIMI_ROWS = {
    "experts": 59.0625 + 7.3828,
    "shared experts": 0.6152,
    "router": 0.3077,
    "MLP": 0.0923,
    "MLA q_a, kv_a": 1.7201,
    "MLA q_b": 0.2681,
    "MLA kv_b": 0.1191,
    "MLA o": 0.8340,
    "MLA absorbed": 0.1191,
    "embedding": 0.2734,
    "lm_head": 0.2734,
    "norms": 0.0019,
}


def test_kimi_int4_over_eight_ranks_row_by_row() -> None:
    rows = rows_gib(catalogue("kimi-k2.5-int4"), Parallel(tp=8))
    assert {name: rows[name] for name in KIMI_ROWS} == pytest.approx(KIMI_ROWS, abs=1e-4)
    assert sum(gib for name, gib in rows.items() if name.startswith("vision")) == pytest.approx(0.6438, abs=1e-4)
    assert sum(rows.values()) == pytest.approx(71.713, abs=1e-3)


def test_floor_is_the_checkpoint_without_engine_copies() -> None:
    rows = weight_rows(catalogue("kimi-k2.5-int4"), Parallel(tp=8))
    assert rows is not None
    by_name = {row.name: row for row in rows}
    assert by_name["MLA absorbed"].bytes_floor == 0
    assert by_name["experts"].bytes_floor == by_name["experts"].bytes_expected
    assert total(rows) - sum(row.bytes_floor for row in rows) == pytest.approx(0.1191 * GIB, rel=1e-3)


def test_dividing_the_checkpoint_by_ranks_is_short() -> None:
    model = catalogue("kimi-k2.5-int4")
    rows = weight_rows(model, Parallel())
    assert rows is not None
    checkpoint = sum(row.bytes_floor for row in rows)
    assert checkpoint / 8 / GIB == pytest.approx(69.3, abs=0.1)


def test_llama_8b_on_one_gpu() -> None:
    assert sum(rows_gib(catalogue("llama-3.1-8b"), Parallel()).values()) == pytest.approx(14.958, abs=1e-3)


def test_qwen3_32b_on_two_gpus() -> None:
    """vLLM 0.11.0 printed 30.59 GiB per GPU at TP2 and 61.03 GiB at TP1 on an H100."""
    assert sum(rows_gib(catalogue("qwen3-32b"), Parallel(tp=2), "vllm").values()) == pytest.approx(30.59, rel=0.005)
    assert sum(rows_gib(catalogue("qwen3-32b"), Parallel(), "vllm").values()) == pytest.approx(61.03, rel=0.005)


def test_kv_projections_are_replicated_beyond_the_number_of_heads() -> None:
    model = catalogue("llama-3.1-8b")
    eight, sixteen = rows_gib(model, Parallel(tp=8)), rows_gib(model, Parallel(tp=16))
    assert sixteen["attention k, v"] == eight["attention k, v"]
    assert sixteen["attention q"] == eight["attention q"] / 2


def test_dp_attention_leaves_experts_divided_and_attention_whole() -> None:
    model = catalogue("deepseek-v3")
    tp, dp = rows_gib(model, Parallel(tp=8)), rows_gib(model, Parallel(tp=8, attn_dp=8))
    assert dp["MLA o"] == pytest.approx(8 * tp["MLA o"])
    assert dp["experts"] == tp["experts"]
    assert dp["embedding"] == pytest.approx(8 * tp["embedding"])


def test_the_fattest_pipeline_stage_counts() -> None:
    model = catalogue("qwen3-32b")
    whole, half = sum(rows_gib(model, Parallel()).values()), sum(rows_gib(model, Parallel(pp=2)).values())
    assert whole / 2 <= half < whole / 2 + 0.01
    assert "lm_head" not in rows_gib(model, Parallel(pp=2)) or "embedding" not in rows_gib(model, Parallel(pp=2))


@pytest.mark.parametrize(
    ("layers", "stages", "split", "counts"),
    [
        (61, 4, "middle", [15, 15, 16, 15]),
        (80, 3, "middle", [27, 27, 26]),
        (61, 2, "middle", [31, 30]),
        (32, 4, "middle", [8, 8, 8, 8]),
        (61, 4, "tail", [15, 15, 15, 16]),
        (62, 4, "tail", [15, 15, 16, 16]),
        (62, 4, "last", [15, 15, 15, 17]),
    ],
)
def test_layers_are_split_as_upstream_splits_them(layers: int, stages: int, split: str, counts: list[int]) -> None:
    assert [len(stage) for stage in stage_layers(layers, stages, split)] == counts


def test_vocabulary_rows_are_padded_to_64_before_they_are_divided() -> None:
    part = Component("lm_head", 100 * 8, "bf16", "head", stage="last", units=100)
    model = Model("m", layers=1, components=(part,))
    rows = weight_rows(model, Parallel(tp=2))
    assert rows is not None
    assert rows[0].bytes_expected == 64 * 8 * 2
    assert rows[0].bytes_floor == 50 * 8 * 2 or rows[0].bytes_floor <= rows[0].bytes_expected


def test_unknown_components_give_no_rows() -> None:
    assert weight_rows(Model("m"), Parallel()) is None
    assert weight_rows(Model("m", components=(Component("x", 1, "no-such-format", "replicated"),)), Parallel()) is None
