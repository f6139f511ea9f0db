"""Profiles that the commands write are profiles that the lookup reads."""

import json
from pathlib import Path

import pytest
import tomli

from preflight.hardware.types import Hardware
from preflight.model.types import Model, Parallel
from preflight.model.weights import weight_rows
from preflight.profiles.commands import profile_hardware, profile_model
from preflight.profiles.find import find_hardware, find_model
from preflight.profiles.hardware_profile import gpu_from_table
from preflight.profiles.results import Broken
from tests.hardware.test_reading import CSV, ROCM_TEXT, TABLE, TOPOLOGY
from tests.model.test_files import SMALL, directory, header, small_shapes


def test_saved_output_becomes_a_profile(tmp_path: Path) -> None:
    (tmp_path / "smi.txt").write_text(TABLE + TOPOLOGY)
    text = profile_hardware(tmp_path / "smi.txt")
    assert isinstance(text, str)
    (tmp_path / "ours.toml").write_text(text)
    found = find_hardware("./ours.toml", tmp_path)
    assert isinstance(found, Hardware), found
    assert (found.name, found.gpu, found.count, found.memory) == ("2x-h100-80", "h100-80", 2, 81559 << 20)
    assert (found.interconnect, found.driver, found.cuda) == ("nvlink", "570.86.15", None)


def test_other_tools_too(tmp_path: Path) -> None:
    for saved, name in (
        (CSV, "2x-l4"),
        (ROCM_TEXT, "2x-mi300x"),
        (TABLE.replace("NVIDIA H100 80GB HBM3", "NVIDIA RTX PRO 6000 B..."), "2x-rtx-pro-6000-blackwell"),
    ):
        (tmp_path / "smi.txt").write_text(saved)
        text = profile_hardware(tmp_path / "smi.txt")
        assert isinstance(text, str)
        assert f'name = "{name}"' in text


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert isinstance(profile_hardware(tmp_path / "none.txt"), Broken)
    (tmp_path / "empty.txt").write_text("")
    assert isinstance(profile_hardware(tmp_path / "empty.txt"), Broken)
    assert isinstance(profile_model(str(tmp_path / "none")), Broken)


def test_a_model_becomes_a_profile_of_the_same_weights(tmp_path: Path) -> None:
    quantised = {**SMALL, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    folders = (
        directory(tmp_path / "plain", SMALL, {}),
        directory(tmp_path / "exact", SMALL, {"model.safetensors": header(small_shapes())}),
        directory(tmp_path / "fp8", quantised, {}),
    )
    for folder in folders:
        text = profile_model(str(folder))
        assert isinstance(text, str), text
        (tmp_path / "profile.toml").write_text(text)
        profile, original = find_model("./profile.toml", tmp_path), find_model(str(folder))
        assert isinstance(profile, Model), profile
        assert isinstance(original, Model)
        assert weight_rows(profile, Parallel(tp=2)) == weight_rows(original, Parallel(tp=2))
        assert profile.attention == original.attention


def test_long_lists_of_modules_are_written_as_patterns(tmp_path: Path) -> None:
    skipped = [f"model.layers.{layer}.mlp.down_proj" for layer in range(2)] + [f"model.layers.{n}.x" for n in range(40)]
    config = {**SMALL, "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": skipped}}
    folder = directory(tmp_path / "m", config, {})
    text = profile_model(str(folder / "config.json"))
    assert isinstance(text, str)
    assert len(text) < len(json.dumps(config))
    (tmp_path / "profile.toml").write_text(text)
    profile, original = find_model("./profile.toml", tmp_path), find_model(str(folder))
    assert isinstance(profile, Model)
    assert isinstance(original, Model)
    assert profile.components == original.components


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from preflight.cli.app import run_app

    (tmp_path / "smi.txt").write_text(TABLE + TOPOLOGY)
    assert run_app(["profile", "hardware", "--from", str(tmp_path / "smi.txt"), "--name", "ours"]) == 0
    assert 'name = "ours"' in capsys.readouterr().out
    assert run_app(["profile", "hardware", "--from", str(tmp_path / "smi.txt"), "--against", "8x-h100"]) == 0
    assert "error OBS001 fewer-gpus: 8 GPUs are declared, 2 were found." in capsys.readouterr().out
    assert run_app(["profile", "model", str(directory(tmp_path / "m", SMALL, {}))]) == 0
    assert "[config]" in capsys.readouterr().out
    assert run_app(["profile", "model", str(tmp_path / "none")]) == 2
    assert run_app(["profile", "hardware", "--from", str(tmp_path / "none.txt")]) == 2


def test_the_gpu_example_of_contributing_is_a_profile() -> None:
    text = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = next(block.split("```")[0] for block in text.split("```toml\n")[1:] if "memory-cuda" in block)
    assert gpu_from_table(tomli.loads(block)).compute_capability == (9, 0)
