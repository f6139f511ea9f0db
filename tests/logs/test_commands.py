"""`calibrate`, and logs in `lint` and `explain`: the whole program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomli

from tests.command import run_cli
from tests.logs.writing import BASE, RANK, SGLANG, VLLM, sglang, vllm

LAUNCH = """\
# keep this comment
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-rtx-pro-6000-blackwell" }
model = { profile = "kimi-k2.5-int4" }

[flags]
tp-size = 8   # all of them
mem-fraction-static = 0.88
"""
INSTALLED = "Successfully installed sglang==0.5.9"
STARTED = [INSTALLED, *sglang("0.5.9", [RANK] * 8)]
HALF = {**BASE, "mem_fraction_static": 0.55}
SAYS_MORE = (
    "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.55"
)
FAILED = [INSTALLED, *sglang("0.5.9", [RANK] * 8, HALF, stop="load"), SAYS_MORE]


def log(tmp_path: Path, lines: list[str], name: str = "boot.log") -> str:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def launch(tmp_path: Path, text: str = LAUNCH) -> Path:
    path = tmp_path / "kimi.launch.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_calibrate_prints_the_figures_as_the_log_rounds_them(tmp_path: Path) -> None:
    run = run_cli("calibrate", log(tmp_path, STARTED))
    assert run.code == 0
    assert tomli.loads(run.stdout)["observed"] == {
        "free-before-load": "94.00 GiB",
        "free-after-load": "21.70 GiB",
        "weights": "72.30 GiB",
        "kv-cache": "10.42 GiB",
        "graphs": "1.50 GiB",
        "kv-tokens": 159171,
        "engine-version": "0.5.9",
    }


@pytest.mark.parametrize("version", VLLM)
def test_calibrate_reads_vllm(tmp_path: Path, version: str) -> None:
    run = run_cli("calibrate", log(tmp_path, vllm(version, 2)))
    weights = "7.6403 GiB" if version == "0.12.0" else "7.64 GiB"
    seen = tomli.loads(run.stdout)["observed"]
    assert (seen["weights"], seen["kv-cache"], seen["kv-tokens"], seen["engine-version"]) == (
        weights,
        "59.11 GiB",
        437712,
        version,
    )


def test_calibrate_writes_into_the_launch_and_keeps_its_comments(tmp_path: Path) -> None:
    path = launch(tmp_path)
    run = run_cli("calibrate", log(tmp_path, STARTED), "--write", str(path))
    assert run.code == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith(LAUNCH)
    assert tomli.loads(text)["observed"]["free-after-load"] == "21.70 GiB"
    again = run_cli(
        "calibrate", log(tmp_path, [INSTALLED, *sglang("0.5.9", [{**RANK, "after": 21.5}] * 8)]), "--write", str(path)
    )
    assert again.code == 0
    assert path.read_text(encoding="utf-8") == text.replace("21.70", "21.50")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("tp-size = 8 ", "tp-size = 4 ", "tp-size is 8 in the log and 4 in the launch"),
        ('"kimi-k2.5-int4"', '"qwen3-8b"', "the launch of qwen3-8b"),
        ('"0.5.9"', '"0.5.23"', "the launch of 0.5.23"),
    ],
)
def test_figures_of_another_launch_are_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    path = launch(tmp_path, LAUNCH.replace(old, new))
    run = run_cli("calibrate", log(tmp_path, STARTED), "--write", str(path))
    assert run.code == 2
    assert why in run.stderr
    assert path.read_text(encoding="utf-8") == LAUNCH.replace(old, new)


def test_a_pool_of_another_fraction_is_left_out(tmp_path: Path) -> None:
    path = launch(tmp_path, LAUNCH.replace("0.88", "0.55"))
    run = run_cli("calibrate", log(tmp_path, STARTED), "--write", str(path))
    assert run.code == 0
    assert "mem-fraction-static is 0.88 in the log and 0.55 in the launch" in run.stderr
    assert set(tomli.loads(path.read_text(encoding="utf-8"))["observed"]) == {
        "free-before-load", "free-after-load", "weights", "graphs", "engine-version"
    }  # fmt: skip


def test_only_one_of_several_launches_gets_the_figures(tmp_path: Path) -> None:
    head, flags = LAUNCH.split("[flags]")
    both = "{}\n[[launch]]\nname = 'a'\n[launch.flags]{}\n[[launch]]\nname = 'b'\n[launch.flags]{}"
    other = flags.replace("= 8 ", "= 4 ")
    path = launch(tmp_path, both.format(head, flags, other))
    assert run_cli("calibrate", log(tmp_path, STARTED), "--write", str(path)).code == 0
    a, b = tomli.loads(path.read_text(encoding="utf-8"))["launch"]
    assert a["observed"]["weights"] == "72.30 GiB"
    assert "observed" not in b
    twice = both.format(head, flags, flags)
    path.write_text(twice, encoding="utf-8")
    run = run_cli("calibrate", log(tmp_path, STARTED), "--write", str(path))
    assert (run.code, path.read_text(encoding="utf-8")) == (2, twice)
    assert "fits 2 launches" in run.stderr


def test_negative_usage_is_refused(tmp_path: Path) -> None:
    shared = {**RANK, "before": 50.0, "after": 60.1, "usage": -10.1}
    path = log(tmp_path, [INSTALLED, *sglang("0.5.9", [shared])])
    run = run_cli("calibrate", path)
    assert "free-after-load" not in run.stdout
    assert "weights" not in run.stdout
    assert "another process released memory" in run.stderr
    lint = run_cli("lint", "--format", "json", path)
    assert [one["code"] for one in json.loads(lint.stdout)["diagnostics"]] == ["OBS012"]


def test_lint_of_a_failed_log_names_the_condition_its_numbers_and_the_remedy(tmp_path: Path) -> None:
    path = log(tmp_path, FAILED)
    run = run_cli("lint", "--format", "json", path)
    (found,) = json.loads(run.stdout)["diagnostics"]
    assert run.code == 1
    assert (found["code"], found["severity"], found["stage"]) == ("OBS010", "error", "kv-sizing")
    assert found["range"]["start"] == {"line": len(FAILED), "column": 1}
    assert found["data"]["rest_gib"] == pytest.approx(21.7 - 94.0 * 0.45)
    assert found["data"]["minimum"] == 0.7692
    for words in (
        "0.55 leaves -20.6 GiB",
        "94.0 GiB were free",
        "21.7 GiB after it",
        "42.3 GiB, is kept back",
        "at least 0.7692",
    ):
        assert words in found["message"]


def test_a_late_out_of_memory_wants_less(tmp_path: Path) -> None:
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 94.97 GiB of "
        "which 512.00 MiB is free."
    )
    run = run_cli("lint", "--format", "json", log(tmp_path, [*sglang("0.5.9", stop="pool"), text]))
    (found,) = json.loads(run.stdout)["diagnostics"]
    assert found["stage"] == "capture"
    assert "Do not increase mem-fraction-static" in found["message"]
    assert found["data"]["highest"] == 0.864  # 0.88 - 1.5 / 94.0


def test_weights_that_do_not_fit_want_neither(tmp_path: Path) -> None:
    text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    run = run_cli("lint", "--format", "json", log(tmp_path, [*sglang("0.5.9")[:4], text]))
    (found,) = json.loads(run.stdout)["diagnostics"]
    assert found["stage"] == "load"
    assert "neither a higher nor a lower mem-fraction-static" in found["message"]


@pytest.mark.parametrize("name", ["boot.log", "boot.txt", "nohup.out"])
def test_a_started_boot_has_no_findings(tmp_path: Path, name: str) -> None:
    for lines in (*(sglang(version) for version in SGLANG), *(vllm(version) for version in VLLM)):
        run = run_cli("lint", "--notes", log(tmp_path, lines, name))
        assert (run.code, run.stdout) == (0, "No findings in 1 file with 1 launch.\n")


def test_text_that_is_no_log_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("vllm is nice\n" * 10, encoding="utf-8")
    (tmp_path / "binary.log").write_bytes(bytes(range(256)) * 100)
    assert run_cli("lint", str(tmp_path)).code == 0
    assert "CFG012" in run_cli("lint", "--notes", str(tmp_path / "notes.txt")).stdout


def test_explain_of_a_log_shows_predicted_beside_measured(tmp_path: Path) -> None:
    run = run_cli("explain", "--format", "json", log(tmp_path, STARTED))
    (data,) = json.loads(run.stdout)["launches"]
    assert data["flags"]["mem-fraction-static"]["origin"] == "observed"
    tokens = next(row for row in data["measured"] if row["name"] == "kv_tokens")
    assert tokens["measured"]["expected"] == 159171
    assert tokens["given_load"]["expected"] == pytest.approx(159171, rel=0.005)


def test_round_trip_from_prediction_to_observation(tmp_path: Path) -> None:
    """A launch is predicted, boots with those figures as a log rounds them, is calibrated, and predicted again."""
    path = launch(tmp_path)
    (cold,) = json.loads(run_cli("explain", "--format", "json", str(path)).stdout)["launches"]
    memory, tokens = cold["memory"], int(cold["kv"]["tokens"]["expected"])
    figures = {
        **RANK,
        "before": memory["free_before_load"]["expected"],
        "after": memory["free_after_load"]["expected"],
        "usage": memory["weights"]["expected"],
        "tokens": tokens,
        "kv": memory["kv_cache"]["expected"],
    }
    boot = log(tmp_path, [INSTALLED, *sglang("0.5.9", [figures] * 8)])
    assert run_cli("calibrate", boot, "--write", str(path)).code == 0
    (seen,) = json.loads(run_cli("explain", "--format", "json", str(path)).stdout)["launches"]
    assert seen["kv"]["tokens"]["expected"] == pytest.approx(tokens, rel=0.005)
    assert run_cli("explain", str(path)).stdout.count("%") >= 5


def test_a_log_may_be_piped_in() -> None:
    data = "\n".join(FAILED).encode()
    run = run_cli("lint", "--format", "concise", "--stdin-filename", "boot.log", "-", stdin=data)
    assert run.code == 1
    assert run.stdout.startswith(f"boot.log:{len(FAILED)}:1: error OBS010")
    shown = run_cli("explain", "--format", "json", "--stdin-filename", "boot.log", "-", stdin=data)
    assert json.loads(shown.stdout)["launches"][0]["verdict"] == "fails"


def test_the_pool_that_is_sized_after_capture_is_read(tmp_path: Path) -> None:
    lines = [INSTALLED, *sglang("0.5.18", stop="pool")]
    at = next(index for index, line in enumerate(lines) if "KV Cache is allocated" in line)
    lines[at] = "[2026-11-30 10:00:00] KV Cache VA upper bound. dtype: torch.bfloat16, #tokens: 999999, KV size: 60.00 GB"
    lines.append(
        "Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 150000, KV size: 9.82 GB, avail mem=8.00 GB"
    )
    seen = tomli.loads(run_cli("calibrate", log(tmp_path, lines)).stdout)["observed"]
    assert (seen["kv-tokens"], seen["kv-cache"]) == (150000, "9.82 GiB")
