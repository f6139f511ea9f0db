"""What is said of a launch's environment variables, by release."""

from __future__ import annotations

import pytest

from preflight.fix import apply
from preflight.lint import lint_document
from preflight.selection import Selection
from preflight.text import Document


def lint(version: str, env: str, flags: str = "tp-size = 1") -> tuple[list[tuple[str, str]], str]:
    """Code and message of each finding, and the text with every fix."""
    text = f'engine = "sglang"\nengine-version = "{version}"\nenv = {{ {env} }}\nflags = {{ {flags} }}\n'
    document = Document("launch.toml", text)
    diagnostics = lint_document(document, chosen=Selection(("ENV",))).diagnostics
    fixes = [fix for diagnostic in diagnostics for fix in diagnostic.fixes]
    return [(one.rule.code, one.message) for one in diagnostics], apply({"launch.toml": document}, fixes)["launch.toml"].text


@pytest.mark.parametrize(
    ("version", "env", "code", "says"),
    [
        ("0.5.23", 'SGLANG_PREFETCH = "1"', "ENV001", "Remove it."),
        ("0.5.2", 'SGL_NO_SUCH_THING = "1"', "ENV001", "nobody reads it"),
        ("0.5.23", 'SGLANG_CUTLASS_MOE = "1"', "ENV002", "Use --moe-runner-backend instead."),
        ("0.5.23", 'SGLANG_ENABLE_SPEC_V2 = "1"', "ENV002", "gone since"),
        ("0.5.23", 'SGLANG_QUEUED_TIMEOUT_MS = "5000"', "ENV002", "SGLANG_REQ_WAITING_TIMEOUT"),
        ("0.5.2", 'SGLANG_ENABLE_SPEC_V2 = "1"', "ENV003", "came with 0.5"),
        ("0.5.18", 'SGLANG_CUTLASS_MOE = "1"', "ENV004", "--moe-runner-backend"),
        ("0.5.9", 'SGLANG_QUEUED_TIMEOUT_MS = "5000"', "ENV004", "in seconds"),
        ("0.5.9", 'SGL_ENABLE_JIT_DEEPGEMM = "0", SGLANG_ENABLE_JIT_DEEPGEMM = "1"', "ENV004", "overwrites"),
        ("0.5.15.post1", 'SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK = "0"', "ENV005", "turns the check off"),
        ("0.5.9", 'SGLANG_FLASHINFER_WORKSPACE_SIZE = "384MB"', "ENV006", "an integer"),
        ("0.5.2", 'SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK = "yes"', "ENV006", "takes it for false"),
        ("0.5.2", 'NCCL_CUMEM_ENABLE = "1"', "ENV007", "sets it to 0"),
        ("0.5.9", 'SGLANG_ENABLE_TORCH_COMPILE = "1"', "ENV007", "Use --enable-torch-compile."),
        ("0.5.23", 'SGLANG_DISAGGREGATION_SAMPLING_MASK_MAX_TOKENS = "1"', "ENV009", "does not start"),
    ],
)
def test_a_variable_is_judged_by_its_release(version: str, env: str, code: str, says: str) -> None:
    found, _ = lint(version, env)
    assert [one for one, _ in found] == [code], found
    assert says in found[0][1]


@pytest.mark.parametrize(
    ("version", "env", "flags"),
    [
        ("0.5.9", 'SGLANG_SKIP_P2P_CHECK = "1"', ""),  # read by name, not registered
        ("0.5.9", 'SGLANG_ENABLE_SPEC_V2 = "Yes", SGLANG_WARMUP_TIMEOUT = "1e3"', ""),
        ("0.5.2", 'SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK = "1", SGL_ENABLE_JIT_DEEPGEMM = "0"', ""),
        ("0.5.9", 'CUDA_DEVICE_MAX_CONNECTIONS = "8", NCCL_CUMEM_ENABLE = "1", CUDA_MODULE_LOADING = "AUTO"', ""),
        ("0.5.9", 'SGLANG_ENABLE_TORCH_COMPILE = "true"', "enable-torch-compile = true"),
        ("0.5.23", 'CUDA_MODULE_LOADING = "LAZY"', ""),
        ("0.5.9", 'PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True"', "tp-size = 8"),
        ("0.5.9", 'CUDA_VISIBLE_DEVICES = "GPU-5ebe9f43"', "tp-size = 1"),
        ("0.5.9", 'CUDA_VISIBLE_DEVICES = "GPU-5ebe9f43,GPU-1"', "tp-size = 2, disable-custom-all-reduce = true"),
        ("0.3.0", 'SGLANG_NO_SUCH_THING = "1"', ""),  # older than all that is known
    ],
)
def test_what_is_in_order_is_not_reported(version: str, env: str, flags: str) -> None:
    assert lint(version, env, flags)[0] == []


def test_without_a_version_any_release_may_know_the_variable() -> None:
    text = 'engine = "sglang"\nenv = { SGLANG_ENABLE_SPEC_V2 = "1", SGLANG_PREFETCH = "1" }\n'
    diagnostics = lint_document(Document("launch.toml", text), chosen=Selection(("ENV",))).diagnostics
    assert [(one.rule.code, one.data["variable"]) for one in diagnostics] == [("ENV001", "SGLANG_PREFETCH")]


@pytest.mark.parametrize(
    ("version", "env", "fixed"),
    [
        ("0.5.9", 'SGL_ENABLE_JIT_DEEPGEMM = "0"', 'SGLANG_ENABLE_JIT_DEEPGEMM = "0"'),
        ("0.5.9", '"SGLANG_ENABLE_JIT_DEEPGEM" = "0"', '"SGLANG_ENABLE_JIT_DEEPGEMM" = "0"'),
        ("0.5.9", 'SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK = "1"', 'SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK = "0"'),
        ("0.5.9", 'SGLANG_ENABLE_SPEC_V2 = "on"', 'SGLANG_ENABLE_SPEC_V2 = "1"'),
        ("0.5.9", 'SGLANG_QUEUED_TIMEOUT_MS = "5000"', 'SGLANG_QUEUED_TIMEOUT_MS = "5000"'),  # another unit: by hand
    ],
)
def test_a_fix_renames_what_keeps_its_meaning(version: str, env: str, fixed: str) -> None:
    assert f"{{ {fixed} }}" in lint(version, env)[1]
