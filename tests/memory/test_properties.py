"""What holds of every launch: more memory never adds a memory error, a larger fraction never lowers the pools."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.diagnostics import ERROR
from preflight.engines.sglang.kv import pool
from preflight.engines.steps import Unknown
from preflight.memory.budget import Budget
from preflight.memory.range import Range
from preflight.units import GIB
from tests.memory.cases import DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS_20B, HOPPER, QWEN3_NEXT, launch_text, mib, result, state

VERSIONS = ("0.4.6.post5", "0.5.2", "0.5.5.post3", "0.5.8", "0.5.9", "0.5.12.post1", "0.5.15.post1", "0.5.18", "0.5.23")
MODELS = ("llama-3.1-8b", "qwen3-32b", "kimi-k2.5-int4", "gpt-oss-20b", "qwen3-next-80b-a3b", "deepseek-v3.2")
FLAGS = st.fixed_dictionaries(
    {"tp_size": st.sampled_from((1, 2, 4, 8)), "chunked_prefill_size": st.sampled_from((2048, 8192, 16384))},
    optional={
        "max_running_requests": st.sampled_from((1, 7, 256, 5000)),
        "max_total_tokens": st.sampled_from((64, 10_000, 3_000_000)),
        "page_size": st.sampled_from((1, 64)),
        "kv_cache_dtype": st.sampled_from(("auto", "fp8_e4m3")),
        "disable_radix_cache": st.just(True),
        "context_length": st.sampled_from((4096, 131_072)),
        "disable_cuda_graph": st.just(True),
    },
)
LAUNCHES = st.fixed_dictionaries(
    {"version": st.sampled_from(VERSIONS), "model": st.sampled_from(MODELS), "flags": FLAGS},
)
GEOMETRIES = (DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS_20B, QWEN3_NEXT)
FIVE = st.lists(st.floats(0, 1e12), min_size=5, max_size=5).map(sorted)
FEW = settings(max_examples=25, deadline=None)


def text(launch: dict[str, Any], memory: int, fraction: float) -> str:
    flags = {**launch["flags"], "mem_fraction_static": fraction, "cuda_graph_max_bs": 64}
    return launch_text(launch["version"], mib(memory, "9.0"), launch["model"], **flags)


def memory_errors(found: str) -> set[str]:
    return {one.rule.code for one in result(found).diagnostics if one.severity == ERROR and one.rule.code.startswith("MEM")}


def budget(found: str) -> Budget:
    (launch,) = result(found).launches
    return launch.budget


def pools(found: Budget) -> float | None:
    return None if found.kv_cache is None else found.kv_cache.expected + (found.state_bytes or 0.0)


@FEW
@given(LAUNCHES, st.integers(16_000, 200_000), st.integers(1, 100_000), st.sampled_from((0.3, 0.6, 0.8, 0.9, 0.97)))
def test_more_memory_never_adds_a_memory_error(launch: dict[str, Any], memory: int, more: int, fraction: float) -> None:
    if memory_errors(text(launch, memory + more, fraction)):
        assert memory_errors(text(launch, memory, fraction))


@FEW
@given(LAUNCHES, st.integers(16_000, 200_000), st.floats(0.1, 0.98), st.floats(0.001, 0.3))
def test_a_larger_fraction_never_lowers_the_pools(launch: dict[str, Any], memory: int, fraction: float, more: float) -> None:
    low, high = (budget(text(launch, memory, round(value, 4))) for value in (fraction, min(fraction + more, 0.99)))
    before, after = pools(low), pools(high)
    if before is not None and after is not None:
        assert after >= before - 2 * (low.bytes_per_token or 0) * low.page_tokens


@FEW
@given(LAUNCHES, st.integers(16_000, 200_000), st.floats(0.1, 0.98))
def test_every_figure_lies_within_its_bounds(launch: dict[str, Any], memory: int, fraction: float) -> None:
    found = budget(text(launch, memory, round(fraction, 4)))
    figures = [
        found.total,
        found.free_before_load,
        found.weights,
        found.free_after_load,
        found.rest,
        found.tokens,
        found.kv_cache,
    ]
    figures += [found.reserved, found.headroom, found.late, *(row.bytes for row in found.rows)]
    for figure in figures:
        if figure is not None:
            floor, low, expected, high, ceil = figure
            assert floor <= low <= expected <= high <= ceil


@FEW
@given(st.sampled_from((DEEPSEEK_V3, DEEPSEEK_V32, GPT_OSS_20B, QWEN3_NEXT)), st.sampled_from(VERSIONS), FLAGS, st.floats(0, 200))
def test_no_rest_below_another_gives_more_than_the_other_may(
    model: Any, version: str, flags: dict[str, Any], rest: float
) -> None:
    try:
        plan = pool(state(version, model, HOPPER, **flags), model)
    except Unknown:
        return
    most = plan.most_tokens(rest * GIB)
    assert all(plan.tokens(rest * GIB * share) <= most for share in (0.0, 0.37, 0.9, 0.999, 1.0))
    least = plan.least_rest()
    if least < 1 << 50:
        assert plan.tokens(least) > 0
        assert plan.tokens(least - plan.cell * plan.page - 2) == 0 or plan.states is not None


@given(
    st.lists(st.floats(0, 1e12), min_size=5, max_size=5).map(sorted),
    st.lists(st.floats(0, 1e12), min_size=5, max_size=5).map(sorted),
)
def test_sums_and_differences_keep_their_order(one: list[float], other: list[float]) -> None:
    first, second = Range(*one), Range(*other)
    for figure in (first.plus(second), first.minus(second), first.times(-2.5), first.at_least(5.0)):
        assert list(figure) == sorted(figure)
