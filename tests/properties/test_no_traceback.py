"""No input ends in a traceback: arbitrary bytes, and launch files mutated at random."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preflight.cli.files import Unreadable, decode
from preflight.lint import examine, lint_document
from preflight.report.formats import renderer
from preflight.report.model import Options, Report
from preflight.text import Document

SEED = """\
engine = "sglang"   # \N{ROCKET}
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell", count = 8 }

[model]
profile = 'kimi-k2.5-int4'

[flags]
tp-size = 8
mem_fraction_static = 0.55
context-length = 131_072
served-model-name = ["a", "b"]
trust-remote-code = true

[env]
NCCL_ALGO = "Ring"

[observed]
free-before-load = ["94.0 GiB", "93.9 GiB"]
free-after-load = "21.7 GiB"

[expect]
context-length = 131_072
"""
PIECES = [
    "nan", "inf", "-1", "1e400", "9" * 400, '"', "'''", "[", "]", "{", "}", "=",
    "\r\n", "\r", "\x00", "\ufeff", "\u2028", "[[launch]]\n",
    "[flags.x]\n", "true", "false", "0.5.99", "engine = 3\n", "1979-05-27",
    "0x7fffffffffffffff", "# preflight: ignore[MEM001]\n", '"-1 GiB"',
]  # fmt: skip
MUTATION = st.tuples(st.integers(0, len(SEED)), st.integers(0, 40), st.one_of(st.sampled_from(PIECES), st.text(max_size=8)))


def lint_everything(document: Document) -> None:
    result = lint_document(document)
    assert result.internal_errors == ()
    report = Report(result.diagnostics, 1, len(result.launches))
    for format in ("text", "concise", "json"):
        renderer(format)(report, Options(notes=True))


@settings(max_examples=1_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400))
def test_arbitrary_bytes(data: bytes) -> None:
    document = decode("launch.toml", data)
    if not isinstance(document, Unreadable):
        lint_everything(document)


@settings(max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(MUTATION, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_mutated_launch_files(mutations: list[tuple[int, int, str]], newline: str, last_newline: bool) -> None:
    text = SEED
    for start, length, new in mutations:
        text = text[:start] + new + text[start + length :]
    text = text.replace("\n", newline)
    lint_everything(Document("launch.toml", text if last_newline else text.rstrip()))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_a_span_slices_to_its_value(newline: str, bom: bytes) -> None:
    document = decode("launch.toml", bom + SEED.rstrip().replace("\n", newline).encode())
    assert isinstance(document, Document)
    (resolved,) = examine(document).launches
    written = {
        name: document.text[setting.place.span.start : setting.place.span.end]
        for name, setting in resolved.launch.settings.items()
        if setting.place is not None
    }
    assert written["tp-size"] == "tp-size = 8"
    assert written["mem-fraction-static"] == "mem_fraction_static = 0.55"
    assert written["context-length"] == "context-length = 131_072"
    tokens = [document.text[token.place.span.start : token.place.span.end] for token in resolved.launch.site.argv]
    assert tokens[:4] == ["tp-size", "8", "mem_fraction_static", "0.55"]
