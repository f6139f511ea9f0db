"""Looking up models and machines by every spelling, and saying clearly what is not there."""

from pathlib import Path

import pytest

from preflight.hardware.types import Hardware
from preflight.model.types import Model
from preflight.profiles.find import find_hardware, find_model, list_hardware, list_models
from preflight.profiles.results import Broken, NotFound


def machine(name: str, near: Path | None = None) -> Hardware:
    found = find_hardware(name, near)
    assert isinstance(found, Hardware), found
    return found


@pytest.mark.parametrize("name", ["kimi-k2.5-int4", "moonshotai/Kimi-K2.5", "MOONSHOTAI/kimi-k2.5"])
def test_a_model_is_found_by_any_of_its_names(name: str) -> None:
    found = find_model(name)
    assert isinstance(found, Model)
    assert found.name == "kimi-k2.5-int4"
    assert found.is_mla
    assert found.vision is not None
    assert (found.vision.sglang_layers, found.vision.sglang_hidden) == (27, 1152)


def test_a_bare_unknown_name_is_not_found_and_says_what_is_near() -> None:
    found = find_model("qwen3-33b")
    assert isinstance(found, NotFound)
    assert "qwen3-32b" in found.near


@pytest.mark.parametrize("name", ["./none.toml", "models/none.json", "./none.gguf"])
def test_a_path_that_does_not_exist_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    found = find_model(name, tmp_path / "launch.toml")
    assert isinstance(found, Broken)
    assert name in found.message


@pytest.mark.parametrize("name", ["", " ", "a\0b", "x" * 5000, "/models/llama", "org/model"])
def test_strange_names_are_simply_not_found(name: str) -> None:
    assert isinstance(find_model(name), NotFound)
    assert isinstance(find_hardware(name), NotFound)


def test_the_machine_of_the_example() -> None:
    found = machine("8x-rtx-pro-6000-blackwell")
    assert (found.count, found.memory, found.interconnect) == (8, 97887 << 20, "pcie")
    assert found.compute_capability == (12, 0)


@pytest.mark.parametrize(
    ("name", "gpu", "count"),
    [
        ("NVIDIA H100 80GB HBM3", "h100-80", None),
        ("NVIDIA-H100-80GB-HBM3", "h100-80", None),
        ("8x-h200", "h200", 8),
        ("8×H200", "h200", 8),
        ("h200:8", "h200", 8),
        ("H200 x4", "h200", 4),
        ("1x-b200", "b200", 1),
        ("8x-a100-80", "a100-80", 8),
        ("8x-l40s", "l40s", 8),
        ("2x 4090", "rtx-4090", 2),
    ],
)
def test_gpus_are_found_by_the_spellings_in_use(name: str, gpu: str, count: int | None) -> None:
    found = machine(name)
    assert (found.gpu, found.count) == (gpu, count)


def test_a_profile_file_overrides_what_its_gpu_says(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(
        'name = "ours"\ngpu = "h100"\ncount = 2\nmemory = "80 GiB"\ninterconnect = "pcie"\n[source]\nall = "measured"\n'
    )
    found = machine("./ours.toml", tmp_path / "launch.toml")
    assert (found.gpu, found.count, found.memory, found.interconnect) == ("h100-80", 2, 80 << 30, "pcie")
    assert found.compute_capability == (9, 0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "x"\nmemroy = "1 GiB"\n[source]\na = "b"\n', "memroy is not a key of this profile. Did you mean memory?"),
        ('name = "x"\nmemory = 96\n[source]\na = "b"\n', "has no unit"),
        ('name = "x"\ncount = 2\n', "names no source"),
        ('name = "x"\ninterconnect = "wires"\n[source]\na = "b"\n', "nvlink-pairs"),
        ("name = ", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said_in_one_message(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(text)
    found = find_hardware("./bad.toml", tmp_path)
    assert isinstance(found, Broken)
    assert says in found.message


def test_a_model_directory_is_read_without_its_code(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "modeling_evil.py").write_text("raise SystemExit(1)\n")
    (folder / "config.json").write_text(
        '{"architectures": ["LlamaForCausalLM"], "auto_map": {"AutoModel": "modeling_evil.Evil"}, "hidden_size": 64,'
        ' "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2,'
        ' "vocab_size": 128, "torch_dtype": "bfloat16"}'
    )
    found = find_model("./model", tmp_path)
    assert isinstance(found, Model)
    assert (found.layers, found.kv_heads, found.head_dim) == (2, 2, 16)


def test_lists_are_sorted_and_complete() -> None:
    assert list(list_models()) == sorted(list_models())
    assert {"kimi-k2.5-int4", "llama-3.1-8b", "qwen3-32b", "deepseek-v3", "kimi-k2.5-eagle3"} <= set(list_models())
    assert {"rtx-pro-6000-blackwell", "h100-80", "h200", "b200", "a100-80", "l40s", "rtx-4090"} <= set(list_hardware())
