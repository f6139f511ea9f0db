"""Launches in compose files."""

import pytest
import yaml

from preflight.launch import LaunchSite
from preflight.text import apply_edits
from tests.readers.launches import deleted, inserted, line, only, reading, replaced, sites, words, written


def service(body: str) -> str:
    return "services:\n  a:\n" + "".join(f"    {text}\n" for text in body.strip("\n").split("\n"))


FORMS = [
    ("image: vllm/vllm-openai:v0.9.1\ncommand: --model m --tp 2", "image", ["--model", "m", "--tp", "2"]),
    ("image: vllm/vllm-openai:v0.9.1\ncommand:\n  - --model\n  - m\n  - --tp\n  - 2", "image", ["--model", "m", "--tp", "2"]),
    ('image: vllm/vllm-openai:v0.9.1\ncommand: ["--model", "m", "--tp=2"]', "image", ["--model", "m", "--tp=2"]),
    ("image: vllm/vllm-openai:v0.9.1\ncommand: >\n  --model m\n  --j '{\"a\": 1}'", "image", ["--model", "m", "--j", '{"a": 1}']),
    ("image: vllm/vllm-openai:v0.9.1\ncommand: [vllm, serve, m]", "image + vllm serve", ["m"]),
    ("image: x\nentrypoint: [python3, -m, sglang.launch_server]\ncommand: [--tp, '2']", "sglang.launch_server", ["--tp", "2"]),
    ("image: x\nentrypoint: >\n  python3 -m sglang.launch_server\n  --tp 2", "sglang.launch_server", ["--tp", "2"]),
    ("image: x\ncommand: python3 -m sglang.launch_server --tp 2", "sglang.launch_server", ["--tp", "2"]),
    (
        "image: x\nentrypoint: [bash, -c, 'exec vllm serve \"$$@\"', --]\ncommand: [m, --tp, '2']",
        "vllm serve",
        ["m", "--tp", "2"],
    ),
    (
        "image: x\nentrypoint: [/bin/sh, -c]\ncommand:\n  - |\n    set -e\n    vllm serve m \\\n      --tp 2",
        "vllm serve",
        ["m", "--tp", "2"],
    ),
    ('image: x\ncommand: bash -c "vllm serve m --tp 2"', "vllm serve", ["m", "--tp", "2"]),
    ('image: x\ncommand: >\n  bash -c "\n  pip install x &&\n  vllm serve m\n  --tp 2"', "vllm serve", ["m", "--tp", "2"]),
]


@pytest.mark.parametrize(("body", "entry", "argv"), FORMS)
def test_a_service_is_its_entrypoint_and_command(body: str, entry: str, argv: list[str]) -> None:
    site = only("manifest", service(body))
    assert site.entry is not None
    assert (site.kind, site.name, site.entry.value, words(site), site.complete) == ("compose", "a", entry, argv, True)


def value(site: LaunchSite) -> tuple[str, str, bool]:
    token = site.argv[-1]
    return token.text, token.state, site.complete


INTERPOLATED = [
    ("command: vllm serve m --tp ${TP:-2}", ("2", "default", True)),
    ("command: vllm serve m --tp ${TP-2}", ("2", "default", True)),
    ("command: vllm serve m --tp ${A:-${B:-2}}", ("2", "default", True)),
    ("command: vllm serve m --tp ${TP}", ("${TP}", "unknown", True)),
    ("command: vllm serve m --tp ${TP:?set it please}", ("${TP}", "unknown", True)),
    ("command: vllm serve m --tp $TP", ("${TP}", "unknown", True)),
    ("command: vllm serve m --x /m/${NAME}/y", ("/m/${NAME}/y", "unknown", True)),
    ("command: vllm serve m --x=1 ${EXTRA_ARGS}", ("${EXTRA_ARGS}", "opaque", False)),
    ("command: vllm serve m --tp 2 ${EXTRA_ARGS:-}", ("2", "known", False)),
    ("command: [vllm, serve, m, --tp, '${TP:-2}']", ("2", "default", True)),
    ("command: [vllm, serve, m, --x, '$$5']", ("$5", "known", True)),
    ("environment: [TP=2]\ncommand: bash -c 'vllm serve m --tp $$TP'", ("2", "known", True)),
    ("environment:\n  TP: 2\ncommand: bash -c 'vllm serve m --tp $TP'", ("${TP}", "unknown", True)),
]


@pytest.mark.parametrize(("body", "expected"), INTERPOLATED)
def test_compose_fills_in_before_anything_else_reads(body: str, expected: tuple[str, str, bool]) -> None:
    assert value(only("manifest", service(body))) == expected


def test_what_surrounds_a_service_is_read() -> None:
    site = only(
        "manifest",
        service("""
image: ${IMAGE:-lmsysorg/sglang:v0.5.9-cu129}
environment:
  - A=1
  - B=${B:-2}
  - C
command: python3 -m sglang.launch_server
deploy:
  resources:
    reservations:
      devices:
        - driver: nvidia
          device_ids: ["0", "1"]
          capabilities: [gpu]
"""),
    )
    assert site.image is not None
    assert site.version is not None
    assert site.gpus is not None
    assert (site.image.value, site.version.value, site.gpus.value) == ("lmsysorg/sglang:v0.5.9-cu129", "0.5.9", 2)
    assert [(variable.name, variable.token.value, variable.token.state) for variable in site.env] == [
        ("A", "1", "known"),
        ("B", "2", "default"),
    ]


@pytest.mark.parametrize(("gpus", "count"), [("gpus: all", None), ("gpus: 2", 2), ("runtime: nvidia", None)])
def test_a_count_of_gpus_is_read_where_it_is_one(gpus: str, count: int | None) -> None:
    site = only("manifest", service(f"image: x\n{gpus}\ncommand: vllm serve m"))
    assert (None if site.gpus is None else site.gpus.value) == count


@pytest.mark.parametrize(
    "body",
    [
        "image: vllm/vllm-openai\nhealthcheck:\n  test: [CMD, vllm, serve, m]\nentrypoint: sleep\ncommand: infinity",
        "image: lmsysorg/sglang\ncommand: python3 -m sglang_router.launch_router --policy random",
        "image: x\ncommand: python -m sglang.bench_serving --model m",
        "image: lmsysorg/sglang\n# command: python3 -m sglang.launch_server",
    ],
)
def test_what_is_no_launch_is_none(body: str) -> None:
    assert sites("manifest", service(body)) == ()


def test_merged_and_aliased_parts_are_read_and_not_edited() -> None:
    text = """
x-base: &base
  image: vllm/vllm-openai:v0.9.1
  command: &command [--model, m]
services:
  a:
    <<: *base
  b:
    image: vllm/vllm-openai:v0.9.2
    command: *command
"""
    found = sites("manifest", text)
    assert words(found[0]) == ["--model", "m"]
    assert found[0].version is not None
    assert found[0].version.value == "0.9.1"
    assert found[0].argv[1].replace("n") is None
    assert found[0].editor.insert("--x", []) is None


def test_a_file_that_is_cut_off_is_read_up_to_there() -> None:
    found = reading("manifest", service("image: x\ncommand: vllm serve m") + "  b: [\n")
    assert [words(site) for site in found.sites] == [["m"]]
    assert [problem.code for problem in found.problems] == ["CFG001"]


# -- edits -----------------------------------------------------------------------------------------------------------------


def test_a_flag_is_added_as_the_list_writes_its_items() -> None:
    base = "services:\n  a:\n    image: x\n"
    for before, after in [
        (
            "    command:\n      - vllm\n      - serve\n      - m # the model\n",
            '    command:\n      - vllm\n      - serve\n      - m # the model\n      - --x\n      - "1"\n',
        ),
        ("    command: [vllm, serve, m]\n", '    command: [vllm, serve, m, --x, "1"]\n'),
        ('    command: ["vllm", "serve", "m"]\n', '    command: ["vllm", "serve", "m", "--x", "1"]\n'),
        ("    command: vllm serve m\n", "    command: vllm serve m --x 1\n"),
        (
            "    command: >\n      vllm serve m\n      --tp 2\n",
            "    command: >\n      vllm serve m\n      --tp 2 --x 1\n",
        ),
        (
            "    command:\n      - bash\n      - -c\n      - |\n        vllm serve m \\\n          --tp 2\n",
            "    command:\n      - bash\n      - -c\n      - |\n        vllm serve m \\\n          --tp 2 \\\n          --x 1\n",
        ),
    ]:
        changed = inserted("manifest", base + before, "--x", "1")
        assert changed == base + after
        yaml.safe_load(changed)
    joined = base + "    command:\n      - vllm\n      - serve\n      - --tp=2\n"
    edit = only("manifest", joined).editor.insert("--x", ["1"])
    assert edit is not None
    assert apply_edits(joined, [edit]) == joined + "      - --x=1\n"


def test_a_flag_is_taken_out_with_its_items() -> None:
    base = "services:\n  a:\n    command:"
    assert (
        deleted("manifest", base + "\n      - vllm\n      - serve\n      - m\n      - --tp\n      - 2\n", 1, 2)
        == base + "\n      - vllm\n      - serve\n      - m\n"
    )
    assert deleted("manifest", base + " [vllm, serve, m, --tp, '2', --x]\n", 1, 2) == base + " [vllm, serve, m, --x]\n"
    assert deleted("manifest", base + " vllm serve m --tp 2 --x\n", 1, 2) == base + " vllm serve m --x\n"


def test_a_value_is_replaced_in_its_spelling() -> None:
    base = "services:\n  a:\n    command:"
    for before, after in [
        (" [vllm, serve, m, --tp, '2']\n", " [vllm, serve, m, --tp, '4']\n"),
        ("\n      - vllm\n      - serve\n      - --tp\n      - 2\n", "\n      - vllm\n      - serve\n      - --tp\n      - 4\n"),
        (" >-\n      vllm serve m\n      --tp 2\n      --x\n", " >-\n      vllm serve m\n      --tp 4\n      --x\n"),
        (" vllm serve m --tp ${TP:-2}\n", " vllm serve m --tp ${TP:-4}\n"),
        (" bash -c \"vllm serve m --tp '2'\"\n", " bash -c \"vllm serve m --tp '4'\"\n"),
    ]:
        assert replaced("manifest", base + before, "2", "4") == base + after
    nested = base + """ bash -c "vllm serve m --j '{\\"a\\":1}'"\n"""
    assert replaced("manifest", nested, '{"a":1}', '{"b":"$"}') == nested.replace('a\\":1', 'b\\":\\"$$\\"')


def test_words_point_at_their_characters() -> None:
    site = only("manifest", service("command: >\n  vllm serve\n  m --tp '2'"))
    assert written(site) == ["m", "--tp", "'2'"]
    assert line(site) == 4
