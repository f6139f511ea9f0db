"""The environment variables of each release."""

from __future__ import annotations

import pytest

from preflight.catalog.variables import VariableTable, load_variables

VARIABLES = load_variables("sglang")


def table(version: str) -> VariableTable:
    found = VARIABLES.at(version)
    assert found is not None
    return found


# Class attributes of `Envs`, counted in the wheels.
REGISTRY = {
    "0.5.2": 0,
    "0.5.5.post3": 101,
    "0.5.8": 189,
    "0.5.9": 209,
    "0.5.10.post1": 232,
    "0.5.12.post1": 295,
    "0.5.15.post1": 430,
    "0.5.18": 543,
    "0.5.20": 623,
    "0.5.23": 770,
}


@pytest.mark.parametrize("version", REGISTRY)
def test_the_registry_is_complete(version: str) -> None:
    names = VARIABLES.books[0]["variables"]
    found = [table(version).get(name) for name in names if not name.startswith("SGL_")]
    assert sum(variable is not None and variable.kind == "registered" for variable in found) == REGISTRY[version]


@pytest.mark.parametrize(
    ("name", "version", "kind", "default"),
    [
        ("SGLANG_ENABLE_SPEC_V2", "0.5.9", "bool", False),
        ("SGLANG_ENABLE_SPEC_V2", "0.5.12.post1", "bool", True),
        ("SGLANG_SYMM_MEM_PREALLOC_GB_SIZE", "0.5.9", "int", -1),
        ("SGLANG_FLASHINFER_WORKSPACE_SIZE", "0.5.9", "int", 384 * 2**20),
        ("SGLANG_MM_FEATURE_CACHE_MB", "0.5.9", "int", 4096),
        ("SGLANG_MM_FEATURE_CACHE_MB", "0.5.12.post1", "int", 1024),
        ("SGLANG_VLM_CACHE_SIZE_MB", "0.5.9", "int", 100),
        ("SGLANG_WARMUP_TIMEOUT", "0.5.23", "float", -1),
        ("SGLANG_INIT_NEW_TOKEN_RATIO", "0.5.5.post3", "float", 0.7),
        ("SGLANG_MOONCAKE_CUSTOM_MEM_POOL", "0.5.23", "str", None),
    ],
)
def test_types_and_defaults_per_release(name: str, version: str, kind: str, default: object) -> None:
    variable = table(version).get(name)
    assert variable is not None
    assert (variable.type, variable.default, variable.computed) == (kind, default, False)


def test_a_name_read_without_the_registry_is_known() -> None:
    variable = table("0.5.23").get("SGLANG_SKIP_P2P_CHECK")
    assert variable is not None
    assert (variable.kind, variable.default) == ("read", "0")


@pytest.mark.parametrize(
    "name",
    [
        "SGLANG_FORCE_CUSTOM_AR_PCIE",
        "SGLANG_CUSTOM_AR_PCIE",
        "SGLANG_CUSTOM_ALLREDUCE_ALGO",
        "SGLANG_CUDA_GRAPH_MAX_BS",
        "SGLANG_PREFETCH",
    ],
)
def test_a_name_that_no_release_contains_is_unknown(name: str) -> None:
    assert VARIABLES.history(name) is None
    assert table("0.5.23").get(name) is None


def test_the_old_prefix_is_copied_where_there_is_a_registry() -> None:
    variable = table("0.5.23").get("SGL_ENABLE_JIT_DEEPGEMM")
    assert variable is not None
    assert (variable.deprecated, variable.replaced_by) == (True, "SGLANG_ENABLE_JIT_DEEPGEMM")


@pytest.mark.parametrize(
    ("name", "version", "replaced_by", "flag"),
    [
        ("SGLANG_GC_LOG", "0.5.9", "SGLANG_LOG_GC", None),
        ("SGLANG_GC_LOG", "0.5.15.post1", "SGLANG_LOG_GC", None),
        ("SGLANG_QUEUED_TIMEOUT_MS", "0.5.9", "SGLANG_REQ_WAITING_TIMEOUT", None),
        ("SGLANG_SUPPORT_CUTLASS_BLOCK_FP8", "0.5.9", None, "--fp8-gemm-backend"),
        ("SGLANG_CUTLASS_MOE", "0.5.18", None, "--moe-runner-backend"),
        ("SGLANG_USE_TRITON_ROUTER_SUM", "0.5.23", "SGLANG_USE_CUSTOM_ROUTER_SUM", None),
    ],
)
def test_what_a_release_itself_calls_retired(name: str, version: str, replaced_by: str | None, flag: str | None) -> None:
    variable = table(version).get(name)
    assert variable is not None
    assert (variable.deprecated, variable.replaced_by, variable.flag) == (True, replaced_by, flag)


def test_a_retired_name_has_its_last_release_and_what_replaced_it() -> None:
    history = VARIABLES.history("SGLANG_FLASHINFER_FP4_GEMM_BACKEND")
    assert history is not None
    assert history.removed_since is not None
    assert history.flag == "--fp4-gemm-backend"


def test_the_nearest_name_is_offered() -> None:
    assert table("0.5.9").nearest("SGLANG_ENABLE_SPEC_V")[0] == "SGLANG_ENABLE_SPEC_V2"
