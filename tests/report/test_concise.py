from __future__ import annotations

from preflight.report.concise import render
from preflight.report.model import Options
from tests.report.cases import CLEAN, ODD, REPORT

NO_REST = (
    "MEM001 nonnegative-rest-memory: mem-fraction-static 0.55 leaves -20.6 GiB for the KV cache: "
    "weights take 72.3 GiB of 94.0 GiB. Raise it to at least 0.77.\n"
)
MISSPELT = "FLG001 unknown-flag: --max-modellen is not a flag of sglang 0.5.9. Use --context-length.\n"
UNREAD = "ENV001 unknown-environment-variable: sglang 0.5.9 does not read SGLANG_X. Remove it.\n"


def test_one_line_per_finding_without_notes() -> None:
    assert render(REPORT, Options()) == (
        f"deploy/launch.toml:6:1: error {NO_REST}"
        f"deploy/launch.toml:7:1: error {MISSPELT}"
        f"deploy/launch.toml:10:1: warning {UNREAD}"
    )


def test_notes_on_demand() -> None:
    first = "deploy/launch.toml:2:18: note VER009 version-newer-than-catalogue: Version 0.5.9 is the first of the catalogue."
    assert render(REPORT, Options(notes=True)).split("\n")[0] == first


def test_only_the_severity_is_coloured() -> None:
    assert render(REPORT, Options(color=True)) == (
        f"deploy/launch.toml:6:1: \x1b[1;31merror\x1b[0m {NO_REST}"
        f"deploy/launch.toml:7:1: \x1b[1;31merror\x1b[0m {MISSPELT}"
        f"deploy/launch.toml:10:1: \x1b[1;33mwarning\x1b[0m {UNREAD}"
    )


def test_a_clean_report_is_empty() -> None:
    assert render(CLEAN, Options()) == ""


def test_hostile_text_stays_on_its_line() -> None:
    assert render(ODD, Options()) == (
        "a b:\\x1b[31m\\n.toml:1:6: warning CAP002 pool-below-context: "
        "'\\x1b[2J\\r\\nforged.toml:1:1: error MEM001 x: y' is 50% of \\u202ewhat, here.\n"
        "deploy/launch.toml:5:1: warning CAP002 pool-below-context: Two lines.\n"
        "deploy/launch.toml:11:1: warning CAP002 pool-below-context: The end.\n"
        "gone-\\udcff.toml:1:1: warning CAP002 pool-below-context: No such file.\n"
    )


def test_statistics_follow() -> None:
    report = REPORT._replace(diagnostics=(*REPORT.diagnostics, *ODD.diagnostics))
    assert render(report, Options(statistics=True)).split("\n")[-6:] == [
        "4  CAP002  pool-below-context",
        "1  ENV001  unknown-environment-variable",
        "1  FLG001  unknown-flag                  1 fixable",
        "1  MEM001  nonnegative-rest-memory       1 fixable",
        "1  VER009  version-newer-than-catalogue",
        "",
    ]
