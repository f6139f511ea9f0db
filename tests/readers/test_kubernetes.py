"""Launches in Kubernetes objects of any kind."""

import pytest
import yaml

from tests.readers.launches import inserted, only, replaced, sites, words

POD = """apiVersion: v1
kind: Pod
spec:
  containers:
    - name: engine
      image: {image}
{rest}
"""


def pod(rest: str, image: str = "lmsysorg/sglang:v0.5.9") -> str:
    return POD.format(image=image, rest="\n".join("      " + line for line in rest.strip("\n").split("\n")))


def test_command_and_args_are_one_command() -> None:
    site = only(
        "manifest", pod('command: [python3, -m, sglang.launch_server]\nargs:\n  - --tp\n  - "2"\n  # - --old\n  - --port=1')
    )
    assert (site.kind, site.name, words(site)) == ("kubernetes", "engine", ["--tp", "2", "--port=1"])


@pytest.mark.parametrize(
    ("image", "rest", "entry"),
    [
        ("vllm/vllm-openai:v0.10.0", "args: [--model, m]", "image"),
        ("vllm/vllm-openai:v0.10.0", "args: [vllm, serve, m]", "image + vllm serve"),
        ("vllm/vllm-openai:v0.10.0", "command: [vllm, serve, m]", "vllm serve"),
        ("registry.local/sglang:custom", "args: [--model-path, m]", "image"),
    ],
)
def test_an_image_may_be_the_server(image: str, rest: str, entry: str) -> None:
    site = only("manifest", pod(rest, image))
    assert site.entry is not None
    assert site.entry.value == entry


def test_variables_of_the_container_are_filled_in() -> None:
    rest = """
command: [sh, -c]
args:
  - exec sglang serve --tp $(TP) --rank $(LWS_WORKER_INDEX) --addr $(HOST):5000 --m $MODEL
env:
  - name: TP
    value: "16"
  - {name: HOST, valueFrom: {fieldRef: {fieldPath: x}}}
  - name: MODEL
    value: Qwen/$(TP)
"""
    site = only("manifest", pod(rest))
    assert [(token.text, token.state) for token in site.argv[1::2]] == [
        ("16", "known"),
        ("${LWS_WORKER_INDEX}", "unknown"),
        ("${HOST}:5000", "unknown"),
        ("Qwen/16", "known"),
    ]
    assert [(variable.name, variable.token.value) for variable in site.env] == [("TP", "16"), ("MODEL", "Qwen/16")]


def test_objects_around_a_container_are_read() -> None:
    text = """
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}
        containers:
          - name: w
            image: lmsysorg/sglang:v0.5.5.post3
            command: [python3, -m, sglang.launch_server]
            resources: {limits: {nvidia.com/gpu: "8"}}
"""
    site = only("manifest", text)
    assert site.gpus is not None
    assert site.version is not None
    assert (site.gpus.value, site.version.value) == (8, "0.5.5.post3")
    assert {key: value.value for key, value in site.hardware.items()} == {"nodes": 2, "gpu": "NVIDIA-H200"}


def test_an_image_may_stand_elsewhere_in_the_document() -> None:
    text = """
template: {containers: [{name: engine, image: lmsysorg/sglang:v0.5.9}]}
roles:
  - patch: {containers: [{name: engine, command: [python3, -m, sglang.launch_server]}]}
"""
    site = only("manifest", text)
    assert site.image is not None
    assert site.image.value == "lmsysorg/sglang:v0.5.9"


def test_every_document_and_every_script_is_read() -> None:
    text = """
kind: ConfigMap
data:
  run.sh: |
    #!/bin/sh
    exec sglang serve --tp 1
  NOTES.md: |
    Start with:

    sglang serve --tp 3
  inner.yaml: |
    spec:
      containers:
        - image: x
          command: [sglang, serve, --tp, "2"]
---
spec: {template: {spec: {containers: [{image: x, command: [bash, -lc, --], args: ["cd /; sglang serve --tp 4"]}]}}}
"""
    assert [words(site) for site in sites("manifest", text)] == [["--tp", "1"], ["--tp", "2"], ["--tp", "4"]]


@pytest.mark.parametrize(
    "rest",
    [
        "livenessProbe: {exec: {command: [sh, -c, 'pgrep -f sglang.launch_server']}}\ncommand: [sleep, infinity]",
        "command: [python3, -m, sglang_router.launch_router]\nargs: [--model-path, m]",
        "command: [python3, -m, dynamo.frontend]",
    ],
)
def test_neighbours_are_no_launches(rest: str) -> None:
    assert sites("manifest", pod(rest)) == ()


def test_template_actions_are_unknown() -> None:
    site = only("manifest", pod("command: [vllm, serve, '{{ .Spec.Model }}', --port, '80{{ .N }}']"))
    assert [(token.value, token.pattern) for token in site.argv] == [(None, "${Model}"), ("--port", None), (None, "80${N}")]


def test_edits_keep_the_layout() -> None:
    text = pod(
        "command:\n  - python3\n  - -m\n  - sglang.launch_server\nargs:\n  - --tp\n  - $(TP)\nenv:\n  - name: TP\n    value: '2'"
    )
    changed = inserted("manifest", text, "--x", "z")
    assert changed == text.replace("  - $(TP)\n", "  - $(TP)\n        - --x\n        - z\n")
    yaml.safe_load(changed)
    assert replaced("manifest", text, "2", "4") == text.replace("'2'", "'4'")
    script = pod('command: [sh, -c]\nargs:\n  - >-\n    sglang serve\n    --j "{\\"a\\": 1}"\n    --x')
    changed = replaced("manifest", script, '{"a": 1}', '{"b": 2}')
    assert changed == script.replace("a", "b").replace("1}", "2}") or '{\\"b\\": 2}' in changed
    yaml.safe_load(changed)


def test_a_variable_with_two_uses_is_not_edited() -> None:
    text = pod("command: [sh, -c, 'echo $(TP); sglang serve --tp $(TP)']\nenv: [{name: TP, value: '2'}]")
    assert only("manifest", text).argv[-1].replace("4") is None
