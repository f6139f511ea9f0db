"""What the engine refuses or warns of once its pools are sized: severity, direction, and the releases that do."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.diagnostics import Diagnostic
from tests.memory.cases import launch_text, result

H100, H200 = 'profile = "1x-h100-80"', 'profile = "8x-h200"'


def found(text: str, code: str) -> Diagnostic | None:
    return next((one for one in result(text).diagnostics if one.rule.code == code), None)


def severity(text: str, code: str) -> str | None:
    one = found(text, code)
    return None if one is None else one.severity.word


def test_weights_above_the_card_are_no_matter_of_the_fraction() -> None:
    text = launch_text("0.5.9", 'profile = "4x-h100-80"', "deepseek-v3", tp_size=4)
    one = found(text, "MEM003")
    assert one is not None
    assert (one.severity.word, one.stage) == ("error", "load")
    assert "the memory fraction does not help" in one.message
    assert found(text, "MEM001") is None
    assert one.fixes == ()


@pytest.mark.parametrize(("version", "word"), [("0.5.12", "error"), ("0.5.20", "error"), ("0.5.23", None)])
def test_requests_that_do_not_reach_every_replica(version: str, word: str | None) -> None:
    flags: dict[str, Any] = {"tp_size": 8, "dp_size": 8, "enable_dp_attention": True, "max_running_requests": 4}
    text = launch_text(version, H200, "deepseek-v3", **flags)
    assert severity(text, "CAP003") == word


def test_a_handful_of_tokens_admits_no_request() -> None:
    assert severity(launch_text("0.5.9", H100, "llama-3.1-8b", max_total_tokens=6), "CAP003") == "error"
    assert severity(launch_text("0.5.9", H100, "llama-3.1-8b", max_total_tokens=7), "CAP003") is None
    assert severity(launch_text("0.5.15", H100, "llama-3.1-8b", max_total_tokens=6), "CAP003") is None


@pytest.mark.parametrize(("version", "word"), [("0.5.15", None), ("0.5.18", "error"), ("0.5.23", "error")])
def test_a_sliding_pool_below_its_window(version: str, word: str | None) -> None:
    text = launch_text(version, H100, "gpt-oss-20b", mem_fraction_static=0.8, swa_full_tokens_ratio=0.00001)
    assert severity(text, "MEM005") == word


def test_a_sliding_pool_for_too_many_requests() -> None:
    flags: dict[str, Any] = {"disable_radix_cache": True, "max_running_requests": 30_000, "mem_fraction_static": 0.5}
    one = found(launch_text("0.5.15", H100, "gpt-oss-20b", **flags), "MEM005")
    assert one is not None
    assert one.severity.word == "error"
    assert "Lower max-running-requests" in one.message


def test_states_of_many_requests_leave_nothing() -> None:
    flags: dict[str, Any] = {"tp_size": 4, "disable_radix_cache": True, "max_running_requests": 8192}
    one = found(launch_text("0.5.15", 'profile = "4x-h100-80"', "qwen3-next-80b-a3b", **flags), "MEM006")
    assert one is not None
    assert one.severity.word == "error"
    assert "Lower max-running-requests" in one.message


def test_a_limit_above_the_pool_is_a_warning() -> None:
    assert severity(launch_text("0.5.9", H100, "llama-3.1-8b", max_total_tokens=2_000_000), "CAP004") == "warning"
    assert severity(launch_text("0.5.9", H100, "llama-3.1-8b", max_total_tokens=20_000), "CAP004") is None


@pytest.mark.parametrize(("version", "word"), [("0.5.9", None), ("0.5.12", "warning"), ("0.5.15", None)])
def test_requests_above_the_bound_of_two_releases(version: str, word: str | None) -> None:
    assert severity(launch_text(version, H100, "llama-3.1-8b", max_running_requests=8192), "CAP005") == word


@pytest.mark.parametrize("scheme", ["fp8", "w8a8_fp8", "bitsandbytes", "qoq"])
def test_weights_that_are_quantised_while_loading_are_not_counted_in_full(scheme: str) -> None:
    text = launch_text("0.5.15", H100, "llama-3.3-70b", quantization=scheme)
    assert severity(text, "MEM003") != "error"
    assert severity(launch_text("0.5.15", H100, "llama-3.3-70b"), "MEM003") == "error"


def test_offloaded_weights_are_not_guessed_at() -> None:
    text = launch_text("0.5.15", H100, "llama-3.3-70b", cpu_offload_gb=100)
    assert not [one for one in result(text).diagnostics if one.rule.code.startswith("MEM")]


def test_a_limit_on_tokens_leaves_its_memory_to_late_consumers() -> None:
    text = launch_text("0.5.9", H100, "llama-3.1-8b", mem_fraction_static=0.97)
    assert severity(text, "MEM002") == "warning"
    limited = launch_text("0.5.9", H100, "llama-3.1-8b", mem_fraction_static=0.97, max_total_tokens=150_000)
    assert severity(limited, "MEM002") is None


def test_ten_million_positions_cost_eighty_gib_of_table() -> None:
    flags: dict[str, Any] = {"tp_size": 8, "context_length": 10_485_760, "mem_fraction_static": 0.8}
    one = found(launch_text("0.5.9", H200, "llama-4-scout", **flags), "MEM002")
    assert one is not None
    assert one.severity.word == "error"
    assert "Lower context-length or max-running-requests" in one.message


def memory_findings(text: str) -> list[str]:
    return [one.rule.code for one in result(text).diagnostics if one.rule.code.startswith("MEM")]


def test_a_model_whose_geometry_the_launch_changes_is_not_judged() -> None:
    text = launch_text("0.5.15", H100, "llama-3.3-70b", json_model_override_args='{\\"num_hidden_layers\\": 4}')
    assert memory_findings(text) == []
    stretched = launch_text("0.5.15", H100, "llama-3.3-70b", json_model_override_args='{\\"rope_scaling\\": null}')
    assert memory_findings(stretched) == ["MEM003"]


def test_a_server_without_the_language_model_is_not_judged_by_it() -> None:
    assert memory_findings(launch_text("0.5.15", H100, "kimi-k2.5-int4", encoder_only=True)) == []


def test_rotary_tables_are_loaded_but_prove_nothing() -> None:
    (launch,) = result(launch_text("0.5.15", H100, "llama-3.1-8b")).launches
    tables = [row for row in launch.budget.rows if row.phase == "load" and "rotary" in row.name]
    weights = launch.budget.weights
    assert len(tables) == 1
    assert weights is not None
    assert weights.floor == pytest.approx(8.03e9 * 2, rel=1e-3)
