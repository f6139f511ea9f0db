"""Damaged launch files: no traceback, no place outside the text, no fix that leaves what it mends."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.launch import Reading
from preflight.readers.launch_file import read
from preflight.text import Document, Place, apply_edits
from tests.toml import CASES

FILES = (
    """\
# Kimi on 8 GPUs 😀
engine = "sglang"
engine-version = "0.5.9"

[hardware]
profile = "8x-rtx-pro-6000-blackwell"
count = 8
memory = "97887 MiB"

[flags] # the command line
tp_size = 8
mem-fraction-static = 0.55
trust-remote-code = true
cuda-graph-bs = [1, 2,
  4] # sizes
json-model-override-args = { a = "b" }

[env]
NCCL_ALGO = "Ring"

[observed]
free-before-load = ["94.0 GiB", "93.9 GiB"]

[expect]
kv-tokens = 100_000
""",
    'engine = "vllm"\r\nflags = { tensor-parallel-size = 2, dtype = \'auto\' }\r\n[[launch]]\r\nname = "a"\r\n'
    "flags.max-model-len = 4096\r\n# preflight: ignore[MEM001] known\r\n"
    "[[launch]]\r\n[launch.flags]\r\nx = 1\r\n[launch.env]\r\nA = 1",
    '[[launch]]\nengine = "sglang"\nflags."tp" = """\n4"""\nhardware = {memory = 96, count = "8", interconnect = "nvlnk"}\n'
    "[launch.observed]\nfree_before_load = '94'\nweights = -1\n[launch.expect]\nkv-tokens = nan\n",
)
PIECES = st.one_of(
    st.text(max_size=3),
    st.sampled_from(
        [
            '"',
            "'",
            '"""',
            "[",
            "]",
            "{",
            "}",
            "[[",
            "]]",
            "=",
            ".",
            ",",
            "#",
            "\n",
            "\r",
            "\r\n",
            "\\",
            "\x00",
            "-1",
            "1e400",
            "nan",
        ]
    ),
    st.sampled_from(
        [
            "[flags]\n",
            "[[launch]]\n",
            "\nengine = 1\n",
            "# preflight: ignore[",
            "é",
            "\ufeff",
            "true",
            "1979-05-27",
            "_",
            "{a=1,}",
        ]
    ),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(FILES))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 5, 30])))
        text = text[:start] + draw(PIECES) + text[end:]
    return text


def places(reading: Reading) -> list[Place]:
    found: list[Place] = []
    for problem in reading.problems:
        found += [problem.finding.at, *(related.place for related in problem.finding.related)]
    for suppression in reading.suppressions:
        found += [suppression.at, *(code.place for code in suppression.codes)]
        found += [suppression.covers] if suppression.covers is not None else []
    for site in reading.sites:
        found += [site.head, *(token.place for token in site.argv), *(one.name_place for one in site.env)]
        for table in (site.hardware, site.model, site.observed, site.expect):
            found += [located.place for located in table.values()]
    return found


@settings(max_examples=CASES, deadline=None)
@given(damaged())
def test_a_damaged_file_is_read_to_the_end(text: str) -> None:
    reading = read(Document("launch.toml", text))
    for place in places(reading):
        assert 0 <= place.span.start <= place.span.end <= len(text)
    for site in reading.sites:
        for token in site.argv:
            if token.source is not None:
                assert token.source.value == token.value
                decoded = token.source.codec.decode(token.source.raw)
                assert decoded is not None
                assert decoded.value == token.value
        count = len(site.argv)
        site.editor.insert("--new-flag", ["1"])
        site.editor.delete(0, min(1, count))


@settings(max_examples=CASES, deadline=None)
@given(damaged())
def test_an_offered_fix_mends_its_problem_and_makes_no_other(text: str) -> None:
    problems = read(Document("launch.toml", text)).problems
    before = _said(text)
    for problem in problems:
        for fix in problem.finding.fixes:
            after = _said(apply_edits(text, fix.edits))
            message = problem.code, problem.finding.message
            assert after[message] < before[message], fix
            assert not any(code in ("CFG001", "CFG004") for code, _ in after), fix


def _said(text: str) -> Counter[tuple[str, str]]:
    return Counter((problem.code, problem.finding.message) for problem in read(Document("launch.toml", text)).problems)
