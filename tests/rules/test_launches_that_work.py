"""Launches that the engine takes, or that fail elsewhere, and were once refused; each from the engine's own code."""

from __future__ import annotations

import pytest

from preflight.diagnostics import ERROR, NOTE, Diagnostic
from preflight.lint import lint_document
from preflight.text import Document


def found(version: str, model: str, flags: str, *, hardware: str = "") -> list[Diagnostic]:
    text = f'engine = "sglang"\nengine-version = "{version}"\nmodel = {{ profile = "{model}" }}\n'
    text += f'hardware = {{ profile = "{hardware}" }}\n' if hardware else ""
    return list(lint_document(Document("launch.toml", f"{text}[flags]\n{flags}\n")).diagnostics)


def errors(*launch: str, hardware: str = "") -> list[str]:
    version, model, flags = launch
    return [one.rule.code for one in found(version, model, flags, hardware=hardware) if one.severity is ERROR]


def test_since_0_5_23_the_vocabulary_is_padded_to_what_divides() -> None:
    """srt/layers/vocab_parallel_embedding.py: the padding is multiplied by tp-size; before, on CPUs alone."""
    assert errors("0.5.20", "phi-4", "tp-size = 5") == ["PAR020"]
    assert errors("0.5.23", "phi-4", "tp-size = 5") == []
    assert errors("0.5.9", "deepseek-v3", 'device = "cpu"\ntp-size = 6') == []


def test_experts_in_awq_that_marlin_does_not_read_fall_back_to_smaller_groups() -> None:
    """0.5.9 srt/layers/quantization/awq.py get_quant_method, moe_wna16.py create_weights: 768 / 8 = 96 = 3 × 32."""
    assert errors("0.5.9", "qwen3-30b-a3b-awq", "tp-size = 8", hardware="8x-h200") == []
    assert errors("0.5.9", "qwen3-30b-a3b-fp8", "tp-size = 8", hardware="8x-h200") == ["QNT010"]


def test_sm100_replaces_the_runner_of_gpt_oss_before_it_is_tested_in_0_5_2() -> None:
    """The oracle takes it on B200 and refuses it on H200."""
    flags = 'tp-size = 4\nmoe-runner-backend = "triton_kernel"\nep-size = 2'
    assert errors("0.5.2", "gpt-oss-120b", flags, hardware="8x-b200") == []
    assert errors("0.5.2", "gpt-oss-120b", flags, hardware="8x-h200") == ["MOE003"]


@pytest.mark.parametrize("algorithm", ["", 'speculative-algorithm = "NGRAM"\n'])
def test_a_draft_that_is_not_loaded_inherits_nothing(algorithm: str) -> None:
    flags = f'{algorithm}quantization = "awq"\nspeculative-draft-model-path = "my/draft"'
    assert "SPC021" not in {one.rule.code for one in found("0.5.9", "qwen3-32b-awq", flags) if one.severity > NOTE}


@pytest.mark.parametrize("size", [10**9, 10**16, 10**18])
def test_a_monstrous_size_takes_no_time(size: int) -> None:
    assert "PAR018" in errors("0.5.9", "qwen3-8b", f"tp-size = {size}")


@pytest.mark.parametrize("flag", ["tp-size = 0", "tp-size = -8", "page-size = 0", "max-total-tokens = -5"])
def test_a_count_below_one_is_told_once(flag: str) -> None:
    assert [one.rule.code for one in found("0.5.9", "qwen3-8b", flag) if one.severity > NOTE] == ["FLG014"]


def test_a_host_too_small_for_any_host_cache_is_told_to_go_without() -> None:
    text = 'engine = "sglang"\nengine-version = "0.5.9"\nhardware = { host-memory = "5 GiB" }\n[flags]\n'
    text += "enable-hierarchical-cache = true\nhicache-size = 10\n"
    (one,) = (one for one in lint_document(Document("launch.toml", text)).diagnostics if one.rule.code == "MEM043")
    assert one.message.endswith("Turn enable-hierarchical-cache off.")
    assert [fix.title for fix in one.fixes] == ["Remove enable-hierarchical-cache, remove hicache-size"]
