"""No log crashes the reader, and none makes it hold more than a little."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preflight.calibrate.figures import calibration
from preflight.logs.lines import BLOCK, LITERALS, LONGEST, interesting
from preflight.logs.lint import lint_boots
from preflight.logs.reader import read_stream, read_text
from preflight.logs.values import fields_of, mapping_of
from tests.logs.writing import BASE, RANK, SGLANG, VLLM, sglang, vllm

ROOT = Path(__file__).resolve().parents[2]
WHOLE = ["\n".join(sglang(version, [RANK] * 2)) for version in SGLANG] + ["\n".join(vllm(version, 2)) for version in VLLM]


def through(data: bytes) -> None:
    """Everything that is done with a log."""
    boots = read_stream(io.BytesIO(data))
    lint_boots("boot.log", boots)
    for boot in boots:
        calibration(boot)


@settings(max_examples=600, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    through(data)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(LITERALS), st.text(max_size=40)), max_size=12))
def test_no_text_around_the_literals_crashes_the_reader(parts: list[tuple[bytes, str]]) -> None:
    through("\n".join(f"{text[:20]}{literal.decode()}{text[20:]}" for literal, text in parts).encode("utf-8", "replace"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(WHOLE), st.randoms(use_true_random=False))
def test_no_damage_crashes_the_reader(text: str, random: random.Random) -> None:
    data = bytearray(text.encode())
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(data))
        match random.randrange(4):
            case 0:
                data[at] = random.randrange(256)
            case 1:
                del data[at : at + random.randrange(200)]
            case 2:
                data[at:at] = data[at : at + random.randrange(300)]
            case _:
                data[at:at] = random.choice([b"-", b"{", b"(" * 60, b"'", b"\\", b"1e999", b"9" * 400, b"\r", b"\x1b[", b"nan"])
    through(bytes(data))


@settings(max_examples=600, deadline=None)
@given(st.text(alphabet="{}[]()'\"\\,=: <>ab1.-e_NoneTrue\n", max_size=120))
def test_no_text_crashes_the_value_readers(text: str) -> None:
    fields_of(text, 0)
    fields_of(text, 0, None)
    mapping_of("{" + text, 0)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=600, deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), VALUES, max_size=5))
def test_values_are_read_as_python_prints_them(data: dict[str, object]) -> None:
    plain = {name: value for name, value in data.items() if "\\" not in repr(value)}
    fields = ", ".join(f"{name}={value!r}" for name, value in plain.items())
    assert fields_of(f"{fields})", 0) == (plain, True)
    assert mapping_of(repr(plain), 0) == (plain, True)


@pytest.mark.parametrize("size", [1, BLOCK - 3, BLOCK, BLOCK + 7, 3 * BLOCK])
def test_lines_are_numbered_across_blocks(size: int) -> None:
    filler = "x" * size + "\n"
    text = filler * 2 + "fired up\n" + filler + "the server is fired up"
    assert [(line.number, line.text) for line in interesting(io.BytesIO(text.encode()))] == [
        (3, "fired up"),
        (5, "the server is fired up"),
    ]


def test_a_line_without_an_end_is_kept_to_its_bound() -> None:
    text = "server_args=ServerArgs(tp_size=8, x='" + "y" * (20 * BLOCK)
    (line,) = interesting(io.BytesIO(text.encode()))
    assert line.cut
    assert len(line.text) == LONGEST
    (boot,) = read_text(text + "\nLoad weight begin. avail mem=94.00 GB")
    assert (boot.settings, boot.complete) == ({"tp_size": 8}, False)


class Endless(io.RawIOBase):
    """A boot, then traffic, made while it is read."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.head = "\n".join(sglang("0.5.9", [RANK] * 8)).encode() + b"\n"
        self.line = b"[2026-11-30 10:10:00 TP0] Decode batch. #running-req: 12, #token: 48123, token usage: 0.31\n"
        self.left = size

    def read(self, size: int = -1) -> bytes:
        block, self.head = self.head[:size], self.head[size:]
        if not block and self.left > 0:
            block = (self.line * (size // len(self.line) + 1))[:size]
            self.left -= len(block)
        return block


def test_a_long_log_is_read_in_flat_memory() -> None:
    tracemalloc.start()
    try:
        (boot,) = read_stream(Endless(30_000_000))  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert boot.counts["kv-tokens"] == 159171
    assert peak < 6_000_000


def test_many_restarts_are_bounded() -> None:
    text = "\n".join(["server_args=ServerArgs(tp_size=1)", "Load weight begin. avail mem=94.00 GB"] * 5_000)
    boots = read_text(text)
    assert len(boots) <= 65
    assert boots[-1].line == 9_999


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of one process is read from /proc")
def test_lint_of_a_large_log_stays_small(tmp_path: Path) -> None:
    """The whole process, on a file beyond the 10 MB that other files may have."""
    path = tmp_path / "boot.log"
    with open(path, "wb") as file:
        file.write("\n".join(sglang("0.5.9", [RANK] * 8, BASE)).encode() + b"\n")
        for _ in range(30):
            file.write(b"Decode batch. #running-req: 12, #token: 48123\n" * 25_000)
    code = "import sys; from preflight.cli import main; code = main(['lint', sys.argv[1]]); "
    code += "print(code, open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    run = subprocess.run(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    status, peak_kib = run.stderr.split()
    assert status == "0"
    assert int(peak_kib) < 60 * 1024


def test_lint_of_other_files_loads_nothing_for_logs() -> None:
    code = "import sys; from preflight.cli import main; main(['lint', 'examples/kimi-k2.5-8x96.launch.toml']); "
    code += (
        "print([name for name in sys.modules if name.startswith(('preflight.logs', 'preflight.drift', 'preflight.calibrate'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


REPEATED = (
    "Capture graph begi",
    "Free memory on device (1/",
    "SWA pool ",
    "To serve at least one request with max seq len (",
    "[[[[ raise ",
    "'\\' ((",
)


@pytest.mark.parametrize("words", REPEATED)
def test_a_line_of_repetitions_costs_no_more_than_its_length(words: str) -> None:
    line = (words * (2 * LONGEST // len(words)))[: LONGEST - 40] + "raph failed raph begin GiB ot enough Error: x"
    started = time.process_time()
    read_text(
        "\n".join(["server_args=ServerArgs(tp_size=1)", *[line] * 3, f"server_args=ServerArgs(x={line}", f"args: {{'a': {line}"])
    )
    assert time.process_time() - started < 5
