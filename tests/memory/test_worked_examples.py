"""The worked examples W1 to W16 of SGLang's memory arithmetic, with their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.engines.sglang.fusion import workspace_bytes
from preflight.engines.sglang.kv import pool
from preflight.engines.sglang.requests import requests, table_bytes
from preflight.engines.sglang.states import states
from preflight.units import GIB, MIB
from tests.memory.cases import (
    DEEPSEEK_V3,
    DEEPSEEK_V32,
    GPT_OSS_20B,
    HOPPER,
    QWEN3_NEXT,
    budget,
    fraction,
    launch_text,
    mib,
    result,
    state,
)

BOX, SEEN = 'profile = "8x-rtx-pro-6000-blackwell"', (93.999, 21.697)


def kimi(version: str, seen: bool = True, **flags: Any) -> str:
    return launch_text(version, BOX, "kimi-k2.5-int4", observed=SEEN if seen else None, tp_size=8, **flags)


def codes(text: str) -> set[str]:
    return {f"{found.severity.word} {found.rule.code}" for found in result(text).diagnostics}


def expected(value: object) -> float:
    figure = getattr(value, "expected", None)
    assert isinstance(figure, int | float)
    return figure


def test_w1_a_negative_rest_stops_every_release() -> None:
    for version in ("0.5.5.post3", "0.5.9", "0.5.15"):
        text = kimi(version, mem_fraction_static=0.55)
        found = budget(text)
        assert expected(found.rest) / GIB == pytest.approx(-20.60255, abs=1e-5)
        assert found.bytes_per_token == 70_272
        assert found.knob.minimum == 0.7692
        assert "error MEM001" in codes(text)


@pytest.mark.parametrize(
    ("value", "rest", "bf16", "paged", "fp8"), [(0.769, -0.01677, 0, 0, 0), (0.770, 0.07723, 1180, 1152, 2360)]
)
def test_w2_the_least_fraction_is_the_one_that_leaves_a_token(value: float, rest: float, bf16: int, paged: int, fp8: int) -> None:
    found = budget(kimi("0.5.9", mem_fraction_static=value))
    assert expected(found.rest) / GIB == pytest.approx(rest, abs=1e-5)
    assert expected(found.tokens) == bf16
    assert expected(budget(kimi("0.5.9", mem_fraction_static=value, page_size=64)).tokens) == paged
    assert expected(budget(kimi("0.5.9", mem_fraction_static=value, kv_cache_dtype="fp8_e4m3")).tokens) == fp8


@pytest.mark.parametrize(("dtype", "least"), [("auto", 0.95169), ("fp8_e4m3", 0.86044)])
def test_w2_a_full_context_needs_more(dtype: str, least: float) -> None:
    below, above = (
        budget(kimi("0.5.9", mem_fraction_static=value, kv_cache_dtype=dtype)) for value in (least - 1e-5, least + 1e-5)
    )
    assert expected(below.tokens) < 262_144 <= expected(above.tokens)


def test_w3_headroom_pays_for_the_request_table() -> None:
    found = budget(kimi("0.5.9", mem_fraction_static=0.88))
    assert expected(found.rest) / GIB == pytest.approx(10.41712, abs=1e-5)
    assert expected(found.tokens) == 159_171
    assert expected(budget(kimi("0.5.9", mem_fraction_static=0.88, kv_cache_dtype="fp8_e4m3")).tokens) == 318_342
    assert expected(budget(kimi("0.5.9", mem_fraction_static=0.88, page_size=64)).tokens) == 159_168
    assert expected(found.headroom) / GIB == pytest.approx(11.27988, abs=1e-5)
    (table,) = (row for row in found.rows if row.name == "request table")
    assert table.bytes.expected / GIB == pytest.approx(2.001, abs=2e-3)
    assert not [row for row in found.rows if "fusion" in row.name]


@pytest.mark.parametrize(
    ("ranks", "hidden", "size"), [(8, 7168, 904), (8, 4096, 520), (8, 2880, 368), (4, 2880, 190), (2, 4096, 136)]
)
def test_w3_fusion_workspaces(ranks: int, hidden: int, size: int) -> None:
    assert workspace_bytes(ranks, hidden) == size * MIB


def test_w4_a_multimodal_model_reserves_100_mib_more() -> None:
    assert expected(budget(kimi("0.5.18", mem_fraction_static=0.88)).tokens) == 157_679
    assert "error MEM001" in codes(kimi("0.5.18", mem_fraction_static=0.77))
    assert "error MEM001" not in codes(kimi("0.5.18", mem_fraction_static=0.771))
    assert budget(kimi("0.5.18", mem_fraction_static=0.88)).knob.minimum == 0.7703


@pytest.mark.parametrize(
    ("version", "value", "rest", "tokens"),
    [("0.5.9", 0.771456, 0.2141, 3271), ("0.5.18", 0.757810, -1.166, 0), ("0.5.23", 0.757810, -1.166, 0)],
)
def test_w5_leaving_the_flag_out_is_no_cure(version: str, value: float, rest: float, tokens: int) -> None:
    text = kimi(version)
    assert fraction(text) == pytest.approx(value, abs=5e-7)
    assert expected(budget(text).rest) / GIB == pytest.approx(rest, abs=5e-4)
    assert expected(budget(text).tokens) == pytest.approx(tokens, abs=1)
    assert ("error MEM001" in codes(text)) is (tokens == 0)


def card(version: str, memory: int, capability: str, **flags: Any) -> float:
    return fraction(launch_text(version, mib(memory, capability), "llama-3.1-8b", **flags))


def test_w6_the_prefill_graph_lowers_the_automatic_fraction() -> None:
    assert card("0.5.10", 81559, "9.0") == 0.830
    assert card("0.5.9", 81559, "9.0") == 0.835


@pytest.mark.parametrize(
    ("value", "tokens", "rest"), [(0.835, 415_117, 50.6735), (0.830, 411_897, 50.2805), (0.874, 440_228, None)]
)
def test_w7_llama_on_one_h100(value: float, tokens: int, rest: float | None) -> None:
    text = launch_text("0.5.9", mib(81559, "9.0"), "llama-3.1-8b", observed=(78.6, 63.642), mem_fraction_static=value)
    found = budget(text)
    assert found.bytes_per_token == 131_072
    assert expected(found.tokens) == pytest.approx(tokens, abs=4)
    if rest is not None:
        assert expected(found.rest) / GIB == pytest.approx(rest, abs=5e-4)


def test_w8_two_pools_of_a_sliding_window_hybrid() -> None:
    plan = pool(state("0.5.12", GPT_OSS_20B, HOPPER), GPT_OSS_20B)
    assert plan.cell == pytest.approx(44_236.8)
    size = plan.size(40 * GIB)
    assert (size.tokens, size.window_tokens) == (970_903, 776_722)
    plain = pool(state("0.5.12", GPT_OSS_20B, HOPPER, disable_hybrid_swa_memory=True), GPT_OSS_20B)
    assert plain.cell == 49_152
    assert plain.tokens(40 * GIB) == 873_813


@pytest.mark.parametrize(("version", "count"), [("0.5.15", 789), ("0.5.18", 788)])
def test_w9_states_of_a_linear_hybrid(version: str, count: int) -> None:
    s = state(version, QWEN3_NEXT, HOPPER, tp_size=4)
    plan = states(s, QWEN3_NEXT)
    assert plan is not None
    assert plan.each == 19_316_736
    split = plan.split(30 * GIB)
    assert split.states == count
    assert split.rest / GIB == pytest.approx(15.8058, abs=1e-4)
    sized = pool(s, QWEN3_NEXT)
    assert sized.cell == 12_288
    assert sized.tokens(30 * GIB) == pytest.approx(1_381_132, abs=10)


@pytest.mark.parametrize(
    ("version", "strategy", "cap"),
    [("0.5.15", "no_buffer", 263), ("0.5.18", "no_buffer", 262), ("0.5.15", "auto", 157), ("0.5.18", "auto", 157)],
)
def test_w9_states_bound_the_requests(version: str, strategy: str, cap: int) -> None:
    s = state(version, QWEN3_NEXT, HOPPER, tp_size=4, mamba_radix_cache_strategy=strategy)
    plan = pool(s, QWEN3_NEXT)
    assert requests(s, plan, plan.size(30 * GIB), 262_144).served == cap


def test_w10_sparse_attention_stores_more_than_it_budgets() -> None:
    s = state("0.5.15", DEEPSEEK_V32, HOPPER, kv_cache_dtype="fp8_e4m3")
    plan = pool(s, DEEPSEEK_V32)
    assert (plan.cell, plan.stored) == (43_188, 48_068)
    tokens = plan.tokens(20 * GIB)
    assert tokens == pytest.approx(497_241, abs=1)
    assert tokens * (plan.stored or 0) / GIB == pytest.approx(22.26, abs=5e-3)
    later = pool(state("0.5.18", DEEPSEEK_V32, HOPPER, kv_cache_dtype="fp8_e4m3"), DEEPSEEK_V32)
    assert (later.cell, later.stored) == (48_068, None)
    assert pool(state("0.5.15", DEEPSEEK_V32, HOPPER), DEEPSEEK_V32).cell == 78_324


def test_w11_a_draft_layer_costs_a_target_layer() -> None:
    flags = {"speculative_algorithm": "EAGLE", "speculative_num_draft_tokens": 4}
    assert pool(state("0.5.15", DEEPSEEK_V3, HOPPER, **flags), DEEPSEEK_V3).cell == 71_424
    assert pool(state("0.5.12", DEEPSEEK_V3, HOPPER, **flags), DEEPSEEK_V3).cell == 70_272


@pytest.mark.parametrize(("version", "value"), [("0.5.12", 0.758), ("0.5.15", 0.834)])
def test_w12_the_reserve_for_a_standalone_draft_went_when_its_weights_came_to_count(version: str, value: float) -> None:
    flags = {"tp_size": 2, "speculative_algorithm": "STANDALONE", "speculative_draft_model_path": "x"}
    assert card(version, 81559, "9.0", disable_piecewise_cuda_graph=True, **flags) == value


def test_w13_one_occupied_gpu_stops_the_start() -> None:
    seen = ", ".join('"94.0 GiB"' for _ in range(7)) + ', "60.0 GiB"'
    text = kimi("0.5.9", seen=False, mem_fraction_static=0.85) + f"[observed]\nfree-before-load = [{seen}]\n"
    assert "error MEM004" in codes(text)
    assert "error MEM004" not in codes(text + "[env]\nSGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK = '0'\n")
    assert "MEM004" not in " ".join(codes(text.replace("60.0", "84.7")))


def test_w14_what_is_taken_before_the_measurement_counts_by_the_fraction() -> None:
    more = budget(kimi("0.5.9", mem_fraction_static=0.88))
    text = launch_text("0.5.9", BOX, "kimi-k2.5-int4", observed=(93.899, 21.597), tp_size=8, mem_fraction_static=0.88)
    less = budget(text)
    assert (expected(more.rest) - expected(less.rest)) / GIB == pytest.approx(0.088, abs=1e-6)
    assert expected(more.tokens) - expected(less.tokens) == pytest.approx(1344, abs=1)


def test_w15_every_rank_of_a_pipeline_keeps_back_128_mib() -> None:
    assert card("0.5.9", 81559, "9.0", tp_size=8, pp_size=2) == 0.805


@pytest.mark.parametrize(("version", "value"), [("0.5.10", 0.795), ("0.4.10", 0.662)])
def test_w16_eight_small_cards(version: str, value: float) -> None:
    assert card(version, 40960, "8.0", tp_size=8) == value


def test_the_request_table_of_ten_million_positions() -> None:
    s = state("0.5.9", DEEPSEEK_V3)
    assert table_bytes(s, 2048, 10_485_760) / GIB == pytest.approx(80, abs=0.05)
    assert table_bytes(s, 2048, 131_072) / GIB == pytest.approx(1, abs=0.01)
