"""Maps whose keys are flags."""

import pytest
import yaml

from tests.readers.launches import deleted, inserted, only, replaced, sites, words


def test_a_config_file_is_read_as_its_flags() -> None:
    text = """
model-path: m
tp-size: 8
mem-fraction-static: 0.90
trust-remote-code: true
disable-radix-cache: false
cuda-graph-bs: [1, 2]
json-model-override-args: {rope_theta: 1000000}
chat_template: "x"
"""
    site = only("manifest", text)
    assert (site.engine, site.complete, site.kind) == ("sglang", False, "flag-map")
    assert words(site) == [
        "--model-path",
        "m",
        "--tp-size",
        "8",
        "--mem-fraction-static",
        "0.90",
        "--trust-remote-code",
        "--cuda-graph-bs",
        "1",
        "2",
        "--json-model-override-args",
        '{"rope_theta": 1000000}',
        "--chat_template",
        "x",
    ]


def test_the_engine_is_told_by_its_own_keys() -> None:
    assert only("manifest", "max_model_len: 4096\ntensor-parallel-size: 2\n").engine == "vllm"
    assert only("manifest", "vllm:\n  dtype: auto\n  tensor-parallel-size: 2\n").engine == "vllm"
    assert only("manifest", "sglang:\n  serverArgs:\n    quantization: fp8\n    enable-x: true\n").engine == "sglang"


@pytest.mark.parametrize(
    "text",
    [
        "model: m\nport: 80\nhost: h\n",
        "inputs:\n  max-model-len: {type: number}\n  tensor-parallel-size: {type: number}\n",
        "max-model-len: 1\na: 1\nb: 2\nc: 3\nd: 4\ne: 5\n",
        "services: {}\n",
    ],
)
def test_a_map_of_other_things_is_none(text: str) -> None:
    assert sites("manifest", text) == ()


def test_a_recipe_keeps_its_roles_apart() -> None:
    text = """
model: {container: "lmsysorg/sglang:v0.5.8-runtime"}
resources: {gpu_type: gb200, gpus_per_node: 4}
backend:
  prefill_environment: {A: "1"}
  sglang_config:
    prefill: {tp-size: 4, disaggregation-mode: prefill}
    decode: {tp-size: 2, disaggregation-mode: decode}
"""
    prefill, decode = sites("manifest", text)
    assert (prefill.name, words(prefill)[:2], decode.name, words(decode)[:2]) == (
        "prefill",
        ["--tp-size", "4"],
        "decode",
        ["--tp-size", "2"],
    )
    assert prefill.version is not None
    assert prefill.gpus is not None
    assert (prefill.version.value, prefill.gpus.value, prefill.hardware["gpu"].value) == ("0.5.8", 4, "gb200")
    assert [(variable.name, variable.token.value) for variable in prefill.env] == [("A", "1")]


def test_edits_keep_the_map() -> None:
    text = "tp-size: 8  # all\nmem-fraction-static: 0.9\ncuda-graph-bs: [1, 2]\n"
    assert inserted("manifest", text, "--enable-metrics") == text + "enable-metrics: true\n"
    assert inserted("manifest", text, "--json", '{"a": 1}') == text + 'json: "{\\"a\\": 1}"\n'
    assert deleted("manifest", text, 0, 1) == text.split("\n", 1)[1]
    assert deleted("manifest", text, 4, 6) == "tp-size: 8  # all\nmem-fraction-static: 0.9\n"
    assert only("manifest", text).editor.delete(4, 5) is None
    assert replaced("manifest", text, "8", "4") == text.replace("8 ", "4 ")
    renamed = replaced("manifest", text, "--tp-size", "--tensor-parallel-size")
    assert renamed == text.replace("tp-size", "tensor-parallel-size")
    yaml.safe_load(renamed)
