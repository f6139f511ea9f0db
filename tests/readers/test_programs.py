"""Launches in Makefiles, Python files, job files and Helm values."""

import ast

import pytest

from tests.readers.launches import deleted, inserted, only, replaced, sites, words, written

MAKE = """MODEL ?= Qwen/Qwen3-8B
PORT := 8000
OTHER = $(shell date)

serve:  # run it
\t@echo vllm serve x
\tvllm serve $(MODEL) \\
\t  --port $(PORT) --x ${OTHER} \\
\t  --home $$HOME
"""


def test_a_recipe_is_read_with_its_variables() -> None:
    site = only("makefile", MAKE)
    assert [(token.text, token.state) for token in site.argv] == [
        ("Qwen/Qwen3-8B", "default"),
        ("--port", "known"),
        ("8000", "known"),
        ("--x", "known"),
        ("${OTHER}", "unknown"),
        ("--home", "known"),
        ("${HOME}", "unknown"),
    ]


def test_edits_of_a_recipe_keep_it() -> None:
    assert replaced("makefile", MAKE, "8000", "9000") == MAKE.replace("8000", "9000")
    assert inserted("makefile", "x:\n\tvllm serve m --tp 2\n", "--y", "a$b") == "x:\n\tvllm serve m --tp 2 --y 'a$$b'\n"


PYTHON = '''import os, subprocess
MODEL = "Qwen/Qwen3-8B"
def run(port, tp):
    """Runs vllm serve."""
    cmd = [
        "vllm",
        "serve", MODEL,
        "--port", str(8000), f"--tp={tp}",
        "--host", os.environ.get("HOST", "0.0.0.0"),
        '--j', '{"a": "é"}', port,
    ]
    subprocess.run(cmd)
'''


def test_a_list_of_literals_is_a_command() -> None:
    site = only("python", PYTHON)
    assert site.complete
    assert [(token.text, token.state) for token in site.argv] == [
        ("Qwen/Qwen3-8B", "known"),
        ("--port", "known"),
        ("8000", "known"),
        ("--tp=${}", "unknown"),
        ("--host", "known"),
        ("0.0.0.0", "default"),
        ("--j", "known"),
        ('{"a": "é"}', "known"),
        ("${port}", "unknown"),
    ]
    assert written(site)[-2:] == ['\'{"a": "é"}\'', "port"]


@pytest.mark.parametrize("more", ["    cmd += x\n", "    cmd.extend(x)\n", "    cmd = cmd\n    cmd.append('--y')\n"])
def test_a_list_that_grows_is_not_complete(more: str) -> None:
    assert not only("python", PYTHON + more).complete


@pytest.mark.parametrize(
    "text",
    [
        '"""vllm serve m --tp 2"""\n',
        'x = ["vllm", "sglang"]\n',
        'print("vllm serve m")\n',
        'import vllm\nLLM(model="m")\n',
        'cmd = ["vllm", "serve", "--help"]\n',
        "cmd = [\n",
    ],
)
def test_what_is_no_process_call_is_none(text: str) -> None:
    assert sites("python", text) == ()


def test_a_command_line_for_a_shell_is_read() -> None:
    assert words(only("python", 'import os\nos.system("vllm serve m --tp 2 > log &")\n')) == ["m", "--tp", "2"]


def test_edits_of_a_list_keep_it_python() -> None:
    text = 'cmd = ["vllm", "serve", "m",\n       "--tp", "2"]\n'
    for changed in (
        inserted("python", text, "--j", '{"a": 1}'),
        deleted("python", text, 1, 2),
        replaced("python", text, "2", 'a"b\\'),
    ):
        ast.parse(changed)
    assert replaced("python", text, "2", "4") == text.replace("2", "4")


SKY = """envs:
  MODEL: Qwen/Qwen3-8B
  TOKEN:
resources:
  accelerators: {A100:8, H100:8}
setup: |
  pip install vllm
run: |
  echo starting vllm serve
  vllm serve $MODEL --tp 8
"""


def test_a_job_gives_its_variables_and_gpus_to_its_script() -> None:
    site = only("manifest", SKY.replace("{A100:8, H100:8}", "{A100: 8, H100: 8}"))
    assert words(site) == ["Qwen/Qwen3-8B", "--tp", "8"]
    assert site.gpus is not None
    assert site.gpus.value == 8
    assert "gpu" not in site.hardware
    site = only("manifest", "type: service\nenv:\n  - A=1\ncommands:\n  - vllm serve m --tp 8\nresources:\n  gpu: MI300X:8\n")
    assert site.gpus is not None
    assert (site.gpus.value, site.hardware["gpu"].value) == (8, "MI300X")


def test_helm_values_give_arguments() -> None:
    text = "workload:\n  image: lmsysorg/sglang:v0.5.9\n  extraArgs: |\n    --tp-size 2 \\\n    --mem-fraction-static 0.8\n"
    site = only("manifest", text)
    assert (site.engine, words(site), site.complete) == ("sglang", ["--tp-size", "2", "--mem-fraction-static", "0.8"], False)
    assert site.version is not None
    assert site.version.value == "0.5.9"
    text = "engine:\n  repository: vllm/vllm-openai\n  tag: v0.10.0\n  extraArgs: [--max-model-len, '4096']\n"
    site = only("manifest", text)
    assert (words(site), site.image.value if site.image else None) == (["--max-model-len", "4096"], "vllm/vllm-openai:v0.10.0")


def test_a_production_stack_names_flags_in_its_own_way() -> None:
    text = """modelSpec:
  - name: a
    repository: vllm/vllm-openai
    tag: v0.10.0
    requestGPU: 2
    vllmConfig:
      tensorParallelSize: 2
      enablePrefixCaching: false
      enableChunkedPrefill: true
      extraArgs: ["--gpu-memory-utilization", "0.9"]
"""
    site = only("manifest", text)
    assert words(site) == ["--tensor-parallel-size", "2", "--enable-chunked-prefill", "--gpu-memory-utilization", "0.9"]
    assert site.gpus is not None
    assert (site.gpus.value, site.name) == (2, "a")


def test_arguments_of_neighbours_are_none() -> None:
    text = (
        "router:\n  image: vllm-router\n  extraArgs: [--policy, random, --port, '1']\n"
        "values:\n  args: [--verbose]\n  note: vllm\n"
    )
    assert sites("manifest", text) == ()
