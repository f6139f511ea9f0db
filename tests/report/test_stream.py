from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflight.diagnostics import Diagnostic, Severity
from preflight.report.escape import escape, escape_lines
from preflight.report.formats import FORMATS, renderer
from preflight.report.model import Options, Report, in_order
from preflight.report.stream import save, use_color, width_of, write
from preflight.text import Document, Place, Span
from tests.report.cases import BELOW, LAUNCH, MISSPELT, NEWER, NO_REST, REST, UNREAD, at


@pytest.mark.parametrize(
    ("flag", "environ", "isatty", "expected"),
    [
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "", "FORCE_COLOR": "1"}, False, True),
        ("auto", {"NO_COLOR": "", "FORCE_COLOR": ""}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_decided_by_switch_then_environment_then_terminal(
    flag: str, environ: dict[str, str], isatty: bool, expected: bool
) -> None:
    assert use_color(flag, environ, isatty=isatty) is expected


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "é \\udcff 漢".encode()),
        ("ascii", b"\\xe9 \\udcff \\u6f22"),
        ("cp1252", b"\xe9 \\udcff \\u6f22"),
    ],
)
def test_what_a_stream_cannot_say_is_shown_by_number(encoding: str, expected: bytes) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    write(stream, "é \udcff 漢")
    stream.flush()
    assert raw.getvalue() == expected


def test_a_report_is_saved_as_utf8(tmp_path: Path) -> None:
    save(str(tmp_path / "report.txt"), "é \udcff\n")
    assert (tmp_path / "report.txt").read_bytes() == b"\xc3\xa9 \\udcff\n"


def test_width_is_columns_or_a_hundred() -> None:
    assert width_of(io.StringIO(), {"COLUMNS": "72"}) == 72
    assert width_of(io.StringIO(), {"COLUMNS": "wide"}) == 100
    assert width_of(io.StringIO(), {}) == 100


def test_a_stream_without_encoding_is_written_to() -> None:
    stream = io.StringIO()
    write(stream, "é\n")
    assert stream.getvalue() == "é\n"


def test_escape_keeps_what_can_be_read() -> None:
    assert escape("C:\\new é 漢 😀") == "C:\\new é 漢 😀"
    assert escape("a\tb\nc\rd\x00\x7f\x85\u2028\ufeff\U000e0001") == "a\\tb\\nc\\rd\\x00\\x7f\\x85\\u2028\\ufeff\\U000e0001"
    assert escape_lines("a\tb\n\x1b[2J\r\n") == "a\tb\n\\x1b[2J\\r\n"


def test_order_is_by_place_and_duplicates_are_dropped() -> None:
    copy = Diagnostic(*NO_REST)
    weaker = NO_REST._replace(severity=Severity.WARNING)
    assert in_order([UNREAD, weaker, MISSPELT, copy, NEWER, NO_REST]) == (NEWER, NO_REST, MISSPELT, UNREAD)


def test_two_messages_at_one_place_both_stay() -> None:
    one, two = (Diagnostic(BELOW, Severity.WARNING, None, text, at(LAUNCH, "tp-size")) for text in "ab")
    assert in_order([two, one]) == (one, two)


@given(text=st.text(st.characters(), max_size=60), data=st.data(), width=st.integers(0, 50), color=st.booleans())
def test_every_format_renders_any_text(text: str, data: st.DataObject, width: int, color: bool) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    document = Document(text or "x", text)
    diagnostic = Diagnostic(REST, Severity.ERROR, "kv-sizing", text, Place(document, Span(start, end)))
    report = Report((diagnostic,), 1, 1)
    for name in FORMATS:
        rendered = renderer(name)(report, Options(color=color, width=width))
        assert rendered.endswith("\n")
        write(io.TextIOWrapper(io.BytesIO(), encoding="ascii"), rendered)
    lines = renderer("text")(report, Options(width=width)).split("\n")
    assert all(line.isprintable() for line in lines)
    concise = renderer("concise")(report, Options())
    assert concise.count("\n") == 1


def test_formats_load_nothing_heavy() -> None:
    """Each format in a process of its own; only what it needs may come with it."""
    heavy = {"json", "difflib", "tempfile", "hashlib", "urllib.parse", "pydantic", "rich", "typer", "jsonschema", "dataclasses"}
    may = {"json": {"json"}, "sarif": {"json", "hashlib", "urllib.parse"}, "gitlab": {"json", "hashlib"}}
    for name in FORMATS:
        code = (
            "import sys\n"
            "before = set(sys.modules)\n"
            "import preflight.fix\n"
            "from preflight.report.formats import renderer\n"
            f"renderer({name!r})\n"
            "print(*(set(sys.modules) - before))"
        )
        loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
        assert loaded & heavy <= may.get(name, set()), name
