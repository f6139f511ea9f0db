from __future__ import annotations

import pytest

from preflight.diagnostics import Diagnostic, Rule, Severity
from preflight.report.frame import Frame, frame
from preflight.report.model import Options, Report
from preflight.report.text import render
from preflight.text import Document, Place, Span
from tests.report.cases import BELOW, CLEAN, NEWER, ODD, REPORT, REST, at

EXPECTED = """\
deploy/launch.toml:6:1: error MEM001 nonnegative-rest-memory: mem-fraction-static 0.55 leaves -20.6 GiB for the KV cache: \
weights take 72.3 GiB of 94.0 GiB. Raise it to at least 0.77.
     6 | mem-fraction-static = 0.55
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^
  fails at kv-sizing, after loading
  see deploy/launch.toml:5:1: the weights are split over 8 GPUs
  help: Raise mem-fraction-static to 0.845 (--fix --unsafe-fixes)

deploy/launch.toml:7:1: error FLG001 unknown-flag: --max-modellen is not a flag of sglang 0.5.9. Use --context-length.
     7 | max-modellen = 8192
       | ^^^^^^^^^^^^^^^^^^^
  fails at arguments, before anything is loaded
  help: Rename max-modellen to context-length (--fix)
  help: Ask the author (shown only)

deploy/launch.toml:10:1: warning ENV001 unknown-environment-variable: sglang 0.5.9 does not read SGLANG_X. Remove it.
    10 | SGLANG_X = "1"
       | ^^^^^^^^
  may fail at serving, after it has started

2 errors, 1 warning, 1 note (--notes)
2 fixable: 1 with --fix, 1 with --fix --unsafe-fixes
"""


def test_text_shows_source_stage_related_and_help() -> None:
    assert render(REPORT, Options()) == EXPECTED


def test_notes_are_shown_on_demand() -> None:
    report = Report((NEWER,), files=1, launches=1)
    assert render(report, Options()) == "1 note (--notes)\n"
    assert render(report, Options(notes=True)) == (
        "deploy/launch.toml:2:18: note VER009 version-newer-than-catalogue: Version 0.5.9 is the first of the catalogue.\n"
        '     2 | engine-version = "0.5.9"\n'
        "       |                  ^^^^^^^\n"
        "\n"
        "1 note\n"
    )


def test_colour_marks_severity_carets_and_help() -> None:
    lines = render(REPORT, Options(color=True)).split("\n")
    assert lines[0].startswith("deploy/launch.toml:6:1: \x1b[1;31merror\x1b[0m MEM001 ")
    assert lines[1] == "     6 | mem-fraction-static = 0.55"
    assert lines[2] == "       | \x1b[1;31m^^^^^^^^^^^^^^^^^^^^^^^^^^\x1b[0m"
    assert lines[5] == "  \x1b[1;32mhelp:\x1b[0m Raise mem-fraction-static to 0.845 (--fix --unsafe-fixes)"


def test_a_clean_report_says_what_was_read() -> None:
    assert render(CLEAN, Options()) == "No findings in 2 files with 3 launches.\n"
    assert render(Report((), 1, 1), Options()) == "No findings in 1 file with 1 launch.\n"


def test_odd_places_and_hostile_text() -> None:
    assert render(ODD, Options()) == (
        "a b:\\x1b[31m\\n.toml:1:6: warning CAP002 pool-below-context: "
        "'\\x1b[2J\\r\\nforged.toml:1:1: error MEM001 x: y' is 50% of \\u202ewhat, here.\n"
        "     1 |     x = 'é漢字'\\x1b[2J # end\n"
        "       |         ^^^^^^^^^^^^^^\n"
        "\n"
        "deploy/launch.toml:5:1: warning CAP002 pool-below-context: Two lines.\n"
        "     5 | tp-size = 8\n"
        "       | ^^^^^^^^^^^\n"
        "\n"
        "deploy/launch.toml:11:1: warning CAP002 pool-below-context: The end.\n"
        "\n"
        "gone-\\udcff.toml:1:1: warning CAP002 pool-below-context: No such file.\n"
        "\n"
        "4 warnings\n"
    )


@pytest.mark.parametrize(
    ("stage", "severity", "words"),
    [
        ("arguments", Severity.ERROR, "fails at arguments, before anything is loaded"),
        ("init", Severity.ERROR, "fails at init, before loading"),
        ("load", Severity.ERROR, "fails at load, while loading"),
        ("kv-sizing", Severity.ERROR, "fails at kv-sizing, after loading"),
        ("capture", Severity.WARNING, "may fail at capture, after loading and KV sizing"),
        ("serving", Severity.ERROR, "fails at serving, after it has started"),
    ],
)
def test_the_stage_in_words(stage: str, severity: Severity, words: str) -> None:
    document = Document("a.toml", "x = 1\n")
    report = Report((Diagnostic(REST, severity, stage, "m", at(document, "x = 1")),), 1, 1)
    assert f"  {words}\n" in render(report, Options())


def test_thousands_are_grouped() -> None:
    document = Document("a.toml", "x = 1\n" * 1234)
    found = tuple(
        Diagnostic(Rule("CFG001", "a", Severity.ERROR), Severity.ERROR, None, "m", Place(document, Span(6 * i, 6 * i + 1)))
        for i in range(1234)
    )
    assert render(Report(found, 1, 1), Options()).endswith("\n1,234 errors\n")


def shown(text: str, needle: str, width: int = 100) -> Frame:
    return frame(at(Document("x", text), needle), width)


def test_frame_expands_tabs_to_columns() -> None:
    # The tab after `ab` ends at column 4, so `c` stands in column 4.
    assert shown("ab\tc\n", "c") == Frame(1, "ab  c", 4, 1)
    assert shown("ab\tc\n", "\tc") == Frame(1, "ab  c", 2, 3)


def test_frame_counts_wide_and_combining_characters() -> None:
    # Each of the two ideographs takes two columns, the combining accent none.
    assert shown("漢字 e\u0301 x\n", "x") == Frame(1, "漢字 e\u0301 x", 7, 1)
    assert shown("漢字 e\u0301 x\n", "字") == Frame(1, "漢字 e\u0301 x", 2, 2)
    assert shown("😀=1\n", "1") == Frame(1, "😀=1", 3, 1)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", ""])
def test_frame_drops_the_line_end(ending: str) -> None:
    assert shown(f"a = 1{ending}b = 2{ending or ' '}", "1") == Frame(1, "a = 1" if ending else "a = 1b = 2", 4, 1)


def test_frame_cuts_long_lines_around_the_place() -> None:
    line = "x" * 300 + "HERE" + "y" * 300
    number, source, indent, length = shown(line, "HERE", width=60)
    # A third of the width stays before the place.
    assert (number, source) == (1, "…" + "x" * 20 + "HERE" + "y" * 36 + "…")
    assert (source[indent : indent + length], length) == ("HERE", 4)


def test_frame_cuts_a_place_longer_than_the_window() -> None:
    assert shown("a = " + "z" * 500, "z" * 500, width=30) == Frame(1, "a = " + "z" * 26 + "…", 4, 26)


def test_frame_of_an_empty_place_is_one_caret() -> None:
    document = Document("x", "a = 1\n")
    assert frame(Place(document, Span(5, 5)), 100) == Frame(1, "a = 1", 5, 1)


def test_below_is_a_warning_without_stage() -> None:
    document = Document("x", "a = 1\n")
    report = Report((Diagnostic(BELOW, Severity.WARNING, None, "m", at(document, "1")),), 1, 1)
    assert "fail" not in render(report, Options())
