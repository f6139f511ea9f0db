"""`--config FILE.yaml` as the releases merge it; each case was tried on the release's own code."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from preflight.catalog.argparse_model import Parsed, parse
from preflight.catalog.config_file import ConfigProblem, config_words, find_config, merge
from preflight.catalog.load import FlagTable, load
from preflight.catalog.values import UNKNOWN

CATALOGUE = load("sglang")


class Word(NamedTuple):
    value: str | None


def table(version: str) -> FlagTable:
    found = CATALOGUE.at(version)
    assert found is not None
    return found


def texts(version: str, **items: object) -> list[str | None]:
    words, problems = config_words([(key.replace("_", "-"), value) for key, value in items.items()], table(version))
    assert problems == []
    return [word.value for word in words]


def run(version: str, *items: tuple[str, object], argv: tuple[str, ...] = ()) -> Parsed:
    inserted, problems = config_words(items, table(version))
    assert problems == []
    command = [Word(text) for text in ("--config", "f.yaml", *argv)]
    merged = merge(command, 0, inserted)
    return parse(merged, table(version), from_config=len(inserted))


def test_true_adds_a_switch_and_false_adds_nothing() -> None:
    assert texts("0.5.9", trust_remote_code=True, enable_metrics=False) == ["--trust-remote-code"]


def test_a_boolean_for_another_option_becomes_a_word() -> None:
    assert texts("0.5.9", tp_size=True) == ["--tp-size", "true"]
    assert texts("0.5.5.post3", tp_size=True) == ["--tp-size"]


def test_null_becomes_the_text_none() -> None:
    parsed = run("0.5.9", ("model-path", "m"), ("max-running-requests", None))
    assert [(problem.kind, problem.data["value"]) for problem in parsed.problems] == [("wrong-type", "None")]


def test_a_list_becomes_words_and_an_empty_one_nothing() -> None:
    assert texts("0.5.9", cuda_graph_bs=[1, 2, 4]) == ["--cuda-graph-bs", "1", "2", "4"]
    assert texts("0.5.9", cuda_graph_bs=[]) == []


@pytest.mark.parametrize(("version", "text"), [("0.5.9", "{'rope_theta': 1000000}"), ("0.5.18", '{"rope_theta": 1000000}')])
def test_a_mapping_is_json_only_since_it_is_dumped(version: str, text: str) -> None:
    assert texts(version, json_model_override_args={"rope_theta": 1000000}) == ["--json-model-override-args", text]


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("0.5.9", "lora-paths"),
        ("0.5.23", "lora-paths"),
        *(
            ("0.5.18", key)
            for key in (
                "cuda-graph-bs-decode",
                "cuda-graph-max-bs-decode",
                "cuda-graph-bs-prefill",
                "cuda-graph-max-bs-prefill",
                "cuda-graph-backend-prefill",
                "cuda-graph-tc-compiler",
                "dsa-prefill-backend",
                "dsa-decode-backend",
                "mamba-radix-cache-strategy",
                "speculative-draft-window-size",
                "incremental-streaming-output",
            )
        ),
        ("0.5.15.post1", "dsa-prefill-backend"),
        ("0.5.23", "disable-cuda-graph"),
    ],
)
def test_keys_that_the_release_refuses(version: str, key: str) -> None:
    assert config_words([(key, "x")], table(version)) == ([], [ConfigProblem("refused-key", 0)])


@pytest.mark.parametrize(("version", "key"), [("0.5.23", "cuda-graph-max-bs-decode"), ("0.5.23", "monokernel-backend")])
def test_keys_that_the_newest_release_lets_through(version: str, key: str) -> None:
    assert config_words([(key, "amd")], table(version))[1] == []


def test_keys_are_spelled_as_on_the_command_line() -> None:
    good = run("0.5.9", ("model-path", "m"), ("tp", 4))
    use = good.last("tp-size")
    assert use is not None
    assert (use.value, good.problems) == (4, ())
    bad = run("0.5.9", ("model_path", "m"))
    assert [problem.kind for problem in bad.problems] == ["missing-required", "unknown"]


def test_the_command_line_overrides_the_file_without_a_word() -> None:
    parsed = run("0.5.9", ("model-path", "m"), ("tp-size", 4), argv=("--tp-size", "8"))
    use = parsed.last("tp-size")
    assert use is not None
    assert (use.value, parsed.problems) == (8, ())


def test_an_unknown_value_stays_unknown() -> None:
    words, _ = config_words([("tp-size", UNKNOWN), ("cuda-graph-bs", [1, UNKNOWN])], table("0.5.9"))
    assert [word.value for word in words] == ["--tp-size", None, "--cuda-graph-bs", "1", None]


@pytest.mark.parametrize(
    ("argv", "at", "problems"),
    [
        (("--config", "f.yaml"), 0, ()),
        (("--tp", "8", "--config", "f.yml"), 2, ()),
        (("--config=f.yaml",), None, (("config-ignored", 0),)),
        (("--conf", "f.yaml"), None, (("config-ignored", 0),)),
        (("--config", "a.yaml", "--config", "b.yaml"), None, (("config-twice", 2),)),
        (("--tp", "8", "--config"), None, (("config-without-path", 2),)),
        (("--config", "f.json"), 0, (("config-suffix", 1),)),
    ],
)
def test_only_the_literal_form_is_followed(argv: tuple[str, ...], at: int | None, problems: tuple[object, ...]) -> None:
    use = find_config([Word(text) for text in argv], table("0.5.9"))
    assert (use.at, use.problems) == (at, problems)


def test_an_old_release_has_no_configuration_file() -> None:
    assert find_config([Word("--config"), Word("f.yaml")], table("0.5.2")).at is None
