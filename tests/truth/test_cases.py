"""Public misconfigurations are found at their cause; public launches that started get no error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight.diagnostics import ERROR, NOTE, Diagnostic
from preflight.lint import lint_document
from preflight.text import Document
from tests.truth.records import ABSENT, cases, clean, launch_toml, truth_folder

if truth_folder() is None:
    pytest.skip(ABSENT, allow_module_level=True)

# What each report is about (`expect.about`), and the rules that speak of it.
RULES = {
    "weights-exceed-static-budget": ("MEM001", "MEM006"),
    "tp-divides-heads": ("PAR018",),
    "fp8-block-tp-alignment": ("QNT010",),
    "quant-group-tp-alignment": ("QNT010",),
    "unknown-flag": ("FLG001",),
    "removed-flag": ("FLG002",),
    "kv-pool-smaller-than-context": ("CAP002", "CAP003"),
    "nnodes-without-dist-init-addr": ("PAR021",),
    "awq-moe-needs-marlin": ("QNT006",),
    "hybrid-spec-needs-extra-buffer": ("MEM040",),
    "extra-buffer-without-radix-cache": ("MEM040",),
    "hybrid-no-buffer-page-size": ("MEM040",),
    "mamba-track-interval": ("MEM040",),
    "mamba-strategy-on-plain-model": ("MEM040",),
    "dp-over-nodes-without-dp-attention": ("PAR006",),
    "mxfp4-moe-unsupported-on-gpu": ("QNT002",),
    "hicache-host-memory": ("MEM043",),
    "draft-context-shorter-than-target": ("SPC020",),
    "spec-draft-tokens-vs-steps": ("SPC004",),
    "dsa-model-needs-dsa-backend": ("ATT010",),
    "env-not-a-boolean": ("ENV006",),
    "prefill-activation-headroom": ("MEM002",),
    "moe-backend-auto-on-sm120": ("MOE009",),
    "unknown-env": ("ENV001",),
    "draft-inherits-quantization": ("SPC021",),
}


def found(record: dict[str, Any], folder: Path) -> list[Diagnostic]:
    result = lint_document(Document("launch.toml", launch_toml(record, folder)))
    assert result.internal_errors == ()
    return [diagnostic for diagnostic in result.diagnostics if diagnostic.severity > NOTE]


@pytest.mark.parametrize("record", cases("sglang"), ids=lambda record: str(record["id"]))
def test_a_reported_mistake_is_found(record: dict[str, Any], tmp_path: Path) -> None:
    expected = RULES[record["expect"]["about"]]
    assert set(expected) & {diagnostic.rule.code for diagnostic in found(record, tmp_path)}


@pytest.mark.parametrize("record", [*clean("sglang"), *clean("vllm")], ids=lambda record: str(record["id"]))
def test_a_launch_that_started_gets_no_error(record: dict[str, Any], tmp_path: Path) -> None:
    assert [one.message for one in found(record, tmp_path) if one.severity is ERROR] == []
