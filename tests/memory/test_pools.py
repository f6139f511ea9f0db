"""Pools per kind and release, against figures worked out by hand from the formulas of the facts."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.engines.sglang.kv import pool
from preflight.engines.sglang.mm_reserve import runtime_reserve
from preflight.engines.sglang.requests import requests
from preflight.engines.sglang.sliding import request_cap
from preflight.engines.sglang.states import states
from preflight.hardware.types import Hardware
from preflight.model.types import Model, Vision
from preflight.units import GIB, MIB
from tests.memory.cases import DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS_20B, HOPPER, QWEN3_NEXT, gqa, state

LLAMA = Model("llama", architecture="LlamaForCausalLM", layers=32, dtype="bf16", attention=(gqa(range(32), 8, 128),))
BLACKWELL = HOPPER._replace(gpu="b200", compute_capability=(10, 0))
S = 19_316_736
"""Bytes of one state of Qwen3-Next at tp 4."""


def cell(version: str, model: Model, hardware: Hardware = HOPPER, **flags: Any) -> float:
    return pool(state(version, model, hardware, **flags), model).cell


@pytest.mark.parametrize(("tp", "expected"), [(1, 131_072), (2, 65_536), (8, 16_384), (16, 16_384)])
def test_key_heads_are_replicated_past_their_number(tp: int, expected: int) -> None:
    assert cell("0.5.9", LLAMA, tp_size=tp) == expected


def test_latent_attention_does_not_shrink_with_ranks() -> None:
    assert cell("0.5.9", DEEPSEEK_V3, tp_size=8) == 70_272
    assert cell("0.5.9", DEEPSEEK_V3, tp_size=8, dp_size=8, enable_dp_attention=True) == 70_272
    assert cell("0.5.9", DEEPSEEK_V3, tp_size=8, kv_cache_dtype="fp8_e4m3") == 35_136


def test_replicas_share_fewer_ranks_of_attention() -> None:
    assert cell("0.5.9", LLAMA, tp_size=8, dp_size=4, enable_dp_attention=True) == 65_536


def test_the_fullest_pipeline_stage_counts() -> None:
    assert cell("0.5.9", LLAMA, pp_size=2) == 65_536
    assert cell("0.5.9", DEEPSEEK_V3, pp_size=2) == 1152 * 31


def test_decode_context_parallel_ranks_share_fewer_heads() -> None:
    assert cell("0.5.18", LLAMA, tp_size=8, dcp_size=4) == 65_536


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.5.9", 65_536 // 2 + 8 * 128 * 32 * 2 // 16), ("0.5.18", 65_536 // 2 + 8 * 128 * 32 * 2 // 16 + 2 * 8 * 128)],
)
def test_four_bits_are_half_of_eight_and_their_scales(version: str, expected: int) -> None:
    assert cell(version, LLAMA, kv_cache_dtype="fp4_e2m1") == expected


def test_latent_attention_in_four_bits() -> None:
    assert cell("0.5.9", DEEPSEEK_V3, kv_cache_dtype="fp4_e2m1") == 576 * 61 // 2 + 36 * 61


def test_mxfp8_adds_one_scale_for_32() -> None:
    assert cell("0.5.18", LLAMA, kv_cache_dtype="mxfp8") == 65_536 + 65_536 // 32


def test_sparse_attention_chooses_eight_bits_on_blackwell() -> None:
    assert cell("0.5.9", DEEPSEEK_V32, HOPPER) == (1152 + 132) * 61
    assert cell("0.5.9", DEEPSEEK_V32, BLACKWELL) == (576 + 132) * 61
    assert cell("0.5.18", DEEPSEEK_V32, BLACKWELL) == (576 + 132) * 61  # its TensorRT-LLM kernels keep plain values
    assert (
        cell("0.5.18", DEEPSEEK_V32, BLACKWELL, dsa_prefill_backend="flashmla_kv", dsa_decode_backend="flashmla_kv") == 788 * 61
    )


def test_a_pathless_draft_is_charged_only_where_the_engine_knows_it() -> None:
    flags: dict[str, Any] = {"speculative_algorithm": "EAGLE", "speculative_num_draft_tokens": 4, "max_running_requests": 48}
    flags["tp_size"] = 4
    model = QWEN3_NEXT._replace(mtp_layers=1, architecture="Qwen3_5MoeForConditionalGeneration")
    assert cell("0.5.15", model, **flags) == 12_288
    assert cell("0.5.15", DEEPSEEK_V3, **flags) == 71_424


def test_drafts_enlarge_the_pool_after_sizing_up_to_0_5_5() -> None:
    flags = {
        "speculative_algorithm": "EAGLE",
        "speculative_num_steps": 5,
        "speculative_eagle_topk": 8,
        "speculative_num_draft_tokens": 32,
    }
    plain, drafting = (pool(state("0.5.5", LLAMA, HOPPER, **more), LLAMA) for more in ({}, flags))
    assert drafting.tokens(10 * GIB) - plain.tokens(10 * GIB) == 48 * (5 * 8 + 32) + 100
    assert drafting.tokens(-1 * 131_072 * 10) > 0  # a slightly negative rest starts all the same


def split(version: str, rest: float = 30 * GIB, **flags: Any) -> tuple[int, float]:
    plan = states(state(version, QWEN3_NEXT, HOPPER, tp_size=4, **flags), QWEN3_NEXT)
    assert plan is not None
    found = plan.split(rest)
    return found.states, found.rest


def test_states_are_fixed_without_a_radix_cache() -> None:
    assert split("0.5.2") == (512, 30 * GIB - 512 * S)
    assert split("0.5.9", disable_radix_cache=True, max_running_requests=64) == (64, 30 * GIB - 64 * S)
    assert split("0.5.18", disable_radix_cache=True, max_running_requests=64) == (64, 30 * GIB - 65 * S)


def test_drafts_keep_states_of_their_own() -> None:
    flags: dict[str, Any] = {
        "speculative_algorithm": "EAGLE",
        "speculative_num_draft_tokens": 4,
        "max_running_requests": 48,
    }
    assert split("0.5.9", **flags)[0] == int((30 * GIB - 48 * 4 * S) * 0.9 / 1.9 // S)
    states_joint, rest = split("0.5.15", mamba_radix_cache_strategy="no_buffer", **flags)
    assert states_joint == int(30 * GIB * 0.9 / 1.9 // (S * (1 + 4 / 3)))
    assert rest == 30 * GIB - 48 * 4 * S - states_joint * S


def test_a_given_number_of_states_is_divided_among_replicas() -> None:
    assert split("0.5.9", max_mamba_cache_size=400, dp_size=4, enable_dp_attention=True)[0] == 100


def test_requests_bound_the_sliding_pool_without_a_radix_cache() -> None:
    flags = {"disable_radix_cache": True, "max_running_requests": 64, "chunked_prefill_size": 8192}
    s = state("0.5.15", GPT_OSS_20B, HOPPER, **flags)
    cap = 64 * (128 + 128 + 1 + 1) + 2 * 8192 + 1
    assert request_cap(s, GPT_OSS_20B, 128, 1) == cap
    size = pool(s, GPT_OSS_20B).size(40 * GIB)
    assert size.window_tokens == cap
    assert size.tokens == (40 * GIB - cap * 12 * 2048) // (12 * 2048)


def test_two_pools_come_and_go_with_the_release() -> None:
    assert pool(state("0.5.5", GPT_OSS_20B, HOPPER), GPT_OSS_20B).sliding is None
    assert pool(state("0.5.9", GPT_OSS_20B, HOPPER), GPT_OSS_20B).sliding is not None
    assert pool(state("0.5.9", GPT_OSS_20B, BLACKWELL), GPT_OSS_20B).sliding is None
    assert pool(state("0.5.9", GPT_OSS_20B, HOPPER, enable_hierarchical_cache=True), GPT_OSS_20B).sliding is None
    assert pool(state("0.5.12", GPT_OSS_20B, HOPPER, enable_hierarchical_cache=True), GPT_OSS_20B).sliding is not None


@pytest.mark.parametrize(
    ("version", "given", "served", "rows"),
    [
        ("0.5.8", None, 2048, 2048),
        ("0.5.9", 64, 64, 64),
        ("0.5.12", 8192, 2048, 2048),
        ("0.5.15", 8192, 8192, 8192),
        ("0.5.15", None, 2048, 2048),
    ],
)
def test_requests_by_release(version: str, given: int | None, served: int, rows: int) -> None:
    s = state(version, LLAMA, HOPPER, **({} if given is None else {"max_running_requests": given}))
    plan = pool(s, LLAMA)
    found = requests(s, plan, plan.size(50 * GIB), 131_072)
    assert (found.served, found.rows) == (served, rows)


@pytest.mark.parametrize(("version", "served"), [("0.5.8", 4), ("0.5.12", 0), ("0.5.20", 0), ("0.5.23", 4)])
def test_requests_are_divided_among_replicas(version: str, served: int) -> None:
    s = state(version, LLAMA, HOPPER, max_running_requests=4, dp_size=8)
    plan = pool(s, LLAMA)
    assert requests(s, plan, plan.size(50 * GIB), 131_072).served == served


@pytest.mark.parametrize(
    ("version", "architecture", "flags", "mib"),
    [
        ("0.5.15", "Qwen3VLForConditionalGeneration", {}, 0),
        ("0.5.18", "KimiK25ForConditionalGeneration", {}, 100),
        ("0.5.18", "KimiK25ForConditionalGeneration", {"mm_feature_transport": "cuda_ipc"}, 1124),
        ("0.5.23", "Qwen3VLForConditionalGeneration", {}, 1024),
        ("0.5.23", "Qwen3VLForConditionalGeneration", {"max_running_requests": 400}, 3072),
        ("0.5.23", "KimiK25ForConditionalGeneration", {"max_running_requests": 400}, 100),
    ],
)
def test_what_multimodal_models_keep_back(version: str, architecture: str, flags: dict[str, Any], mib: int) -> None:
    model = LLAMA._replace(architecture=architecture, vision=Vision(layers=27))
    assert runtime_reserve(state(version, model, HOPPER, **flags)) == mib * MIB
