"""Launches in Dockerfiles."""

import pytest

from tests.readers.launches import deleted, inserted, line, only, replaced, sites, words

LAUNCHES = [
    ('FROM x\nENTRYPOINT ["python3", "-m", "sglang.launch_server", "--tp", "2"]\nCMD []', ["--tp", "2"], True),
    ('FROM x\nENTRYPOINT ["python3", "-m", "sglang.launch_server"]\nCMD ["--tp", "2"]', ["--tp", "2"], True),
    ('FROM x\nENTRYPOINT ["python3", "-m", "sglang.launch_server"]', [], False),
    ('FROM x\nCMD ["vllm", "serve", "m", \\\n     "--tp", "2"]', ["m", "--tp", "2"], True),
    ('FROM x\nCMD ["vllm", "serve", \\\n  # the model\n  "m"]', ["m"], True),
    ("FROM x\nCMD vllm serve m \\\n  --tp 2", ["m", "--tp", "2"], True),
    ('FROM x\nCMD ["sh", "-c", "vllm serve m --tp 2"]', ["m", "--tp", "2"], True),
    ('FROM vllm/vllm-openai:v0.9.0\nCMD ["--model", "m"]', ["--model", "m"], True),
    ('FROM x AS base\nENTRYPOINT ["vllm", "serve"]\nFROM base\nCMD ["m"]', ["m"], True),
    ('FROM x\r\nCMD ["vllm", "serve", "m"]\r\n', ["m"], True),
    ("FROM x\nENTRYPOINT vllm serve m\nCMD --tp 2", ["m"], True),
    ('FROM x\nENV TP=2\nCMD vllm serve m --tp $TP', ["m", "--tp", "2"], True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "argv", "complete"), LAUNCHES)
def test_entrypoint_and_command_are_one_command(text: str, argv: list[str], complete: bool) -> None:
    site = only("dockerfile", text)
    assert (words(site), site.complete, site.kind) == (argv, complete, "dockerfile")


@pytest.mark.parametrize(
    "text",
    [
        'FROM x\nCMD ["vllm", "serve", "m"]\nFROM y\nCMD ["sleep", "1"]',
        "FROM x\nHEALTHCHECK CMD vllm serve m",
        "FROM x\nRUN <<EOF\nCMD vllm serve m\nEOF\n",
        "FROM vllm/vllm-openai:v0.9.0\nRUN pip install x",
        "FROM x\n# CMD vllm serve m",
        'FROM x\nENTRYPOINT ["/start.sh"]\nCMD ["--model", "m"]',
    ],
)
def test_what_is_no_launch_is_none(text: str) -> None:
    assert sites("dockerfile", text) == ()


def test_image_version_and_variables_are_read() -> None:
    text = 'ARG TAG=v0.5.9\nFROM lmsysorg/sglang:${TAG}\nENV A=1 B="x y"\nENV C d\nCMD ["python3", "-m", "sglang.launch_server"]'
    site = only("dockerfile", text)
    assert site.image is not None
    assert site.version is not None
    assert (site.image.value, site.version.value) == ("lmsysorg/sglang:v0.5.9", "0.5.9")
    assert [(variable.name, variable.token.value) for variable in site.env] == [("A", "1"), ("B", "x y"), ("C", "d")]
    assert line(site) == 5


def test_a_pinned_package_says_more_than_the_base_image() -> None:
    site = only("dockerfile", 'FROM vllm/vllm-openai:v0.9.0\nRUN pip install "vllm==0.10.1"\nCMD ["--model", "m"]')
    assert site.version is not None
    assert site.version.value == "0.10.1"


def test_edits_keep_the_form() -> None:
    array = 'FROM x\nCMD ["vllm", "serve", "m", \\\n     "--tp", "2"]\n'
    assert inserted("dockerfile", array, "--x", 'a"b') == array.replace('"2"]', '"2", "--x", "a\\"b"]')
    assert deleted("dockerfile", array, 1, 2) == 'FROM x\nCMD ["vllm", "serve", "m"]\n'
    assert replaced("dockerfile", array, "2", "4") == array.replace('"2"', '"4"')
    shell = "FROM x\nCMD vllm serve m \\\n  --tp 2\n"
    assert inserted("dockerfile", shell, "--x") == "FROM x\nCMD vllm serve m \\\n  --tp 2 --x\n"
    assert replaced("dockerfile", shell, "2", "4") == shell.replace("2", "4")
