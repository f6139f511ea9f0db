"""The founding mystery: a log that worked, a launch that fails, and its log, through `diff`, `lint` and `calibrate`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tomli

from tests.command import run_cli
from tests.logs.writing import BASE, RANK, sglang, vllm

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mystery"


@pytest.fixture
def mystery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("good.log", "bad.log", "launch.toml"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(a: str, b: str) -> dict[str, Any]:
    run = run_cli("diff", "--format", "json", a, b)
    assert run.code == 0, run.stderr
    data = json.loads(run.stdout)
    assert isinstance(data, dict)
    return data


def found(*words: str) -> list[dict[str, Any]]:
    data = json.loads(run_cli("lint", "--format", "json", *words).stdout)
    return [one for one in data["diagnostics"] if one["severity"] != "note"]


@pytest.mark.parametrize("other", ["launch.toml", "bad.log"])
def test_the_one_setting_that_differs_is_named_with_what_it_does(mystery: Path, other: str) -> None:
    data = compared("good.log", other)
    (setting,) = data["settings"]
    assert (setting["name"], setting["a"]["value"], setting["b"]["value"]) == ("mem-fraction-static", 0.88, 0.55)
    assert setting["b"]["by"] == ("line 13" if other == "launch.toml" else "log")
    assert data["explained_by"] == ["mem-fraction-static"]
    assert data["a"]["rest_gib"] == pytest.approx(21.7 - 94.0 * 0.12)
    (effect,) = data["effects"]
    assert effect["rest_gib"] == pytest.approx(21.7 - 94.0 * 0.45)
    assert (effect["kv_tokens"], effect["starts"]) == (0, False)
    assert {one["what"] for one in data["not_shown"]} >= {"the driver", "the environment", "leftovers of earlier processes"}


def test_the_text_of_diff_reads_like_the_answer(mystery: Path) -> None:
    text = run_cli("diff", "good.log", "launch.toml").stdout
    assert "mem-fraction-static 0.55 explains why B does not start" in text
    said = " ".join(text.split())
    assert "Raise it to at least 0.7692; 0.845 also leaves room" in said  # by the free memory that A measured
    assert "leaves -20.6 GiB" in said
    assert max(map(len, text.splitlines())) < 140


def test_the_other_way_round_nothing_explains_a_failure(mystery: Path) -> None:
    assert compared("launch.toml", "good.log")["explained_by"] == []


def test_lint_tells_the_drift_and_the_failed_log(mystery: Path) -> None:
    first, second, third = found("launch.toml", "bad.log")
    assert (first["code"], first["path"], first["range"]["start"]["line"]) == ("OBS010", "bad.log", 36)
    assert (second["code"], third["code"]) == ("DRF002", "MEM001")
    assert second["data"]["rest_gib"] == pytest.approx(-20.6)
    assert second["data"]["rest_before_gib"] == pytest.approx(10.42)
    assert "was 0.88 in the boot of good.log" in second["message"]


def test_calibrated_by_the_failed_log_the_least_fraction_is_known(mystery: Path) -> None:
    assert run_cli("calibrate", "bad.log", "--write", "launch.toml").code == 0
    text = (mystery / "launch.toml").read_text(encoding="utf-8")
    assert text.startswith((EXAMPLE / "launch.toml").read_text(encoding="utf-8").rstrip())
    assert tomli.loads(text)["observed"]["free-after-load"] == "21.70 GiB"
    (error,) = [one for one in found("launch.toml") if one["severity"] == "error"]
    assert error["data"]["minimum"] == 0.7692
    assert error["data"]["rest_gib"] == pytest.approx(-20.6)


def test_the_fix_sets_what_the_boot_had(mystery: Path) -> None:
    assert run_cli("lint", "--select", "DRF", "--fix", "--unsafe-fixes", "launch.toml").code == 0
    text = (EXAMPLE / "launch.toml").read_text(encoding="utf-8")
    assert (mystery / "launch.toml").read_text(encoding="utf-8") == text.replace("0.55", "0.88")
    assert [one["code"] for one in found("launch.toml")] == ["CAP002"]


def test_a_missing_baseline_is_one_finding(mystery: Path) -> None:
    path = mystery / "launch.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("good.log", "gone.log"), encoding="utf-8")
    drift = [one for one in found("launch.toml") if one["code"].startswith("DRF")]
    assert [one["code"] for one in drift] == ["DRF001"]
    assert "does not exist" in drift[0]["message"]


def test_the_path_of_a_baseline_is_relative_to_the_file(mystery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    codes = [one["code"] for one in found(str(mystery / "launch.toml"))]
    assert codes == ["DRF002", "MEM001"]


def test_the_automatic_fraction_of_another_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.5.9 chose 0.771456 by itself and just started; 0.5.23 chooses 0.757810, and the same file does not start."""
    monkeypatch.chdir(tmp_path)
    started = {**RANK, "tokens": 3271, "kv": 0.21, "pool_end": 19.4, "late": 18.8}
    lines = ["Successfully installed sglang==0.5.9", *sglang("0.5.9", [started] * 8, {**BASE, "mem_fraction_static": 0.771456})]
    Path("good.log").write_text("\n".join(lines), encoding="utf-8")
    text = (EXAMPLE / "launch.toml").read_text(encoding="utf-8")
    same = "\n".join(line for line in text.splitlines() if not line.startswith("mem-fraction-static"))
    Path("launch.toml").write_text(same.replace("0.5.9", "0.5.23"), encoding="utf-8")
    data = compared("good.log", "launch.toml")
    (setting,) = [one for one in data["settings"] if one["name"] == "mem-fraction-static"]
    assert setting["a"] == {"value": 0.771456, "by": "log, automatic"}
    assert setting["b"]["value"] == pytest.approx(0.757810, abs=5e-7)
    assert "mem-fraction-static" in data["explained_by"]
    assert data["a"]["rest_gib"] == pytest.approx(0.217, abs=5e-4)  # 21.70 - 94.00 · 0.228544
    together = data["effects"][-1]
    assert together["change"] == "all together"
    assert together["rest_gib"] == pytest.approx(-1.164, abs=5e-4)  # and 100 MiB less for a multimodal model
    assert {one["code"] for one in found("launch.toml")} == {"DRF002", "MEM001"}


def test_secrets_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, key in (("a.log", "hunter1"), ("b.log", "hunter2")):
        Path(name).write_text("\n".join(sglang("0.5.9", settings={**BASE, "api_key": key})), encoding="utf-8")
    run = run_cli("diff", "a.log", "b.log")
    assert "api-key" in run.stdout
    assert "hunter" not in run.stdout


def test_what_cannot_be_compared_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("nothing here\n", encoding="utf-8")
    run = run_cli("diff", "notes.txt", "gone.toml")
    assert run.code == 2
    assert "No launch and no boot is found in notes.txt" in run.stderr


@pytest.mark.parametrize(("a", "b"), [("good.log", "launch.toml"), ("bad.log", "good.log"), ("launch.toml", "launch.toml")])
def test_the_json_is_of_its_schema(mystery: Path, a: str, b: str) -> None:
    import jsonschema

    from preflight.schema.comparison import diff_output_schema

    jsonschema.validate(compared(a, b), diff_output_schema())


def test_figures_of_another_release_are_not_used(mystery: Path) -> None:
    assert run_cli("calibrate", "bad.log", "--write", "launch.toml").code == 0
    path = mystery / "launch.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace('engine-version = "0.5.9"', 'engine-version = "0.5.23"', 1), encoding="utf-8"
    )
    diagnostics = found("--select", "OBS", "launch.toml")
    assert [(one["code"], one["severity"]) for one in diagnostics] == [("OBS013", "warning")]
    (data,) = json.loads(run_cli("explain", "--format", "json", "launch.toml").stdout)["launches"]
    assert data["measured"] == []
    assert data["memory"]["free_after_load"]["low"] < data["memory"]["free_after_load"]["high"] - 0.1


def test_a_baseline_that_may_never_end_is_not_opened(mystery: Path) -> None:
    path = mystery / "launch.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("good.log", "/dev/zero"), encoding="utf-8")
    assert [one["code"] for one in found("--select", "DRF", "launch.toml")] == ["DRF001"]


def test_a_baseline_that_failed_is_no_baseline(mystery: Path) -> None:
    path = mystery / "launch.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("good.log", "bad.log"), encoding="utf-8")
    (one,) = found("--select", "DRF", "launch.toml")
    assert (one["code"], "a boot that failed" in one["message"]) == ("DRF001", True)


def test_a_baseline_of_another_model_is_said(mystery: Path) -> None:
    path = mystery / "launch.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("kimi-k2.5-int4", "qwen3-8b"), encoding="utf-8")
    (one,) = found("--select", "DRF", "launch.toml")
    assert "of another model" in one["message"]


def test_a_fix_and_other_settings_without_memory_are_one_note(mystery: Path) -> None:
    path = mystery / "launch.toml"
    text = path.read_text(encoding="utf-8").replace("0.55", "0.88")
    path.write_text(text.replace("[baseline]", 'schedule-policy = "lpm"\n\n[baseline]'), encoding="utf-8")
    data = json.loads(run_cli("lint", "--select", "DRF", "--format", "json", "launch.toml").stdout)
    assert [(one["code"], one["severity"]) for one in data["diagnostics"]] == [("DRF003", "note")]
    assert "schedule-policy fcfs → lpm" in data["diagnostics"][0]["message"]


def test_command_lines_of_vllm_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(vllm("0.20.2", 2))
    Path("a.log").write_text(text, encoding="utf-8")
    changed = text.replace("'gpu_memory_utilization': 0.85", "'gpu_memory_utilization': 0.9, 'max_num_seqs': 64")
    Path("b.log").write_text(changed, encoding="utf-8")
    found = {one["name"]: (one["a"]["value"], one["b"]["value"]) for one in compared("a.log", "b.log")["settings"]}
    assert found["gpu-memory-utilization"] == (0.85, 0.9)
    assert [value for name, value in found.items() if name.startswith("max-") and value[1] == 64]
