"""Our parser against Python's own, built from the same options, over seeded random command lines."""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

import pytest

from preflight.catalog.argparse_model import Parsed, Problem, parse
from preflight.catalog.load import Flag, FlagTable, load
from preflight.catalog.values import UNKNOWN

CATALOGUE = load("sglang")


class Word(NamedTuple):
    value: str | None


def words(*values: str | None) -> list[Word]:
    return [Word(value) for value in values]


def table(version: str) -> FlagTable:
    found = CATALOGUE.at(version)
    assert found is not None
    return found


def run(version: str, *values: str | None, **options: Any) -> Parsed:
    return parse(words(*values), table(version), **options)


def kinds(parsed: Parsed) -> list[tuple[str, int]]:
    return [(problem.kind, problem.at) for problem in parsed.problems]


# -- the real one
# -------------------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


class StoreConst(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, self.const)


class Retired(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        raise Refused(f"retired: {option_string}")


def human_readable(text: str) -> int:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)(k|M|G|T)\s*", text)
    if found:
        return int(Decimal(found[1]) * {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}[found[2]])
    found = re.fullmatch(r"\s*(\d+)(Ki|Mi|Gi|Ti)\s*", text)
    if found:
        return int(found[1]) * {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}[found[2]]
    return int(text)


REAL_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "json": json.loads,
    "json_list": json.loads,
    "human_readable_int": human_readable,
    "nullable_str": lambda text: None if text in ("", "None") else text,
}
# Their values are checked by hand below.
SPECIAL = {"parse_cuda_graph_config_arg", "parse_cuda_graph_backend_arg"}


def real_parser(flags: Sequence[Flag]) -> Parser:
    parser = Parser()
    for flag in flags:
        spellings = [spelling for spelling in flag.spellings if not spelling.startswith("--no-")]
        keywords: dict[str, Any] = {"dest": flag.dest, "default": argparse.SUPPRESS, "required": flag.required}
        if flag.action == "optional_boolean":
            parser.add_argument(*spellings, action=argparse.BooleanOptionalAction, **keywords)
        elif flag.switch:
            const = True if flag.const is None else flag.const
            action = Retired if flag.fails else StoreConst
            parser.add_argument(*flag.spellings, action=action, nargs=0, const=const, **keywords)
        else:
            if flag.action == "deprecated_store_const":
                keywords |= {"action": StoreConst, "const": flag.const}
            elif flag.nargs == "?":
                keywords["const"] = flag.const
            parser.add_argument(
                *flag.spellings,
                type=REAL_TYPES.get(flag.type, str),
                nargs=flag.nargs,
                choices=flag.choices,
                **keywords,
            )
    return parser


# -- random command lines
# -----------------------------------------------------------------------------------------------

TEXTS = [
    *("auto", "8", "-1", "-0.5", "0.9", "", "true", "None", "64k", "1.5Ki", "{}", "[1, 2]", '{"a": 1}', "a b", "-x"),
    *("--", "x=y", "--tp 8", "-tp", "1_000", " 7 ", "nan", "8.0", "triton", "--no-such", "--he", "-.5", "-1e5", "--=1"),
    *("llama", "---"),
]


def pieces(flags: Sequence[Flag], rng: random.Random) -> Iterator[str]:
    if rng.random() < 0.8:
        yield from rng.choice([("--model-path", "m"), ("--model-path=m",), ("--model", "m")])
    for _ in range(rng.randint(0, 6)):
        flag = rng.choice(flags)
        spelling = rng.choice(flag.spellings)
        if rng.random() < 0.15:
            spelling = spelling[: rng.randint(3, len(spelling))]
        if rng.random() < 0.05:
            spelling = spelling.replace("-", "_")
        values = [str(rng.choice(flag.choices or TEXTS)) if rng.random() < 0.7 else rng.choice(TEXTS) for _ in range(3)]
        if flag.type in ("int", "float", "human_readable_int") and rng.random() < 0.7:
            values[0] = str(rng.randint(-3, 4096))
        count = rng.choice((0, 0, 1)) if flag.switch else rng.choice((0, 1, 1, 1, 1, 2, 3))
        if count and values[0] != "--" and rng.random() < 0.2:  # argparse takes `--flag=--` for no value at all
            yield f"{spelling}={values[0]}"
            yield from values[1:count]
        else:
            yield spelling
            yield from values[:count]


MESSAGES = (
    (r"ambiguous option", {"ambiguous", "removed", "too-new"}),
    (r"expected .*arguments?$", {"missing-value"}),
    (r"ignored explicit argument", {"unexpected-value"}),
    (r"invalid choice", {"not-a-choice"}),
    (r"invalid .* value", {"wrong-type"}),
    (r"arguments are required", {"missing-required"}),
    (r"^retired", {"removed"}),
    (r"^unrecognized arguments", {"unknown", "removed", "too-new", "stray-positional"}),
)


LEFT_OVER = MESSAGES[-1][1]


def left_over(problems: Sequence[Problem]) -> set[int]:
    return {index for problem in problems if problem.kind in LEFT_OVER for index in problem.words}


def real_answer(parser: Parser, argv: list[str]) -> tuple[dict[str, object], str | None]:
    """What was set, and the message of a refusal."""
    try:
        return vars(parser.parse_args(argv)), None
    except Refused as refusal:
        return {}, str(refusal)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="argparse of 3.12 and later differs; engines are judged by 3.11's")
@pytest.mark.parametrize("version", ["0.4.6.post5", "0.5.9", "0.5.12.post1", "0.5.15.post1", "0.5.23"])
def test_random_command_lines_parse_as_by_argparse(version: str) -> None:
    flags = [flag for flag in table(version).flags() if flag.type not in SPECIAL and flag.action != "lora_paths"]
    parser = real_parser(list(table(version).flags()))
    rng = random.Random(f"argparse {version}")
    outcomes = {"taken": 0, "refused": 0}
    for _ in range(600):
        argv = list(pieces(flags, rng))
        parsed = run(version, *argv)
        first = next((problem for problem in parsed.problems if problem.refuses), None)
        if any(problem.kind == "help" for problem in parsed.problems):
            continue
        namespace, refusal = real_answer(parser, argv)
        if refusal is None:
            outcomes["taken"] += 1
            assert first is None, (argv, first)
            last = {use.flag.dest: use.value for use in parsed.occurrences}
            ours = {dest: list(value) if isinstance(value, tuple) else value for dest, value in last.items()}
            assert sorted(map(repr, ours.items())) == sorted(map(repr, namespace.items())), argv
            continue
        outcomes["refused"] += 1
        assert first is not None, (argv, refusal)
        assert first.kind in next(names for pattern, names in MESSAGES if re.search(pattern, refusal)), (argv, first)
        if refusal.startswith("unrecognized arguments: "):
            rest = " ".join(argv[index] for index in sorted(left_over(parsed.problems)))
            assert refusal == f"unrecognized arguments: {rest}", argv
    assert min(outcomes.values()) > 100, outcomes


# -- by hand
# ------------------------------------------------------------------------------------------------------------

MODEL = ("--model-path", "m")


@pytest.mark.parametrize(
    ("version", "argv", "expected"),
    [
        ("0.5.23", ("--cuda-graph-max-bs", "64"), [("removed", 2)]),  # an ambiguous prefix by now
        ("0.5.9", ("--cuda-graph-max-bs-decode", "64"), [("too-new", 2)]),
        ("0.5.23", ("--stream-output",), [("removed", 2)]),
        ("0.5.9", ("--tp_size", "8"), [("unknown", 2)]),
        ("0.5.9", ("--pp", "2"), [("ambiguous", 2)]),
        ("0.5.18", ("--cuda-graph-max-bs", "64"), [("deprecated", 2)]),
        ("0.4.6.post5", ("--enable-flashmla",), [("removed", 2)]),
        ("0.5.9", ("--trust-remote-code", "true"), [("stray-positional", 3)]),
        ("0.5.9", ("--trust-remote-code=true",), [("unexpected-value", 2)]),
        ("0.5.9", ("--tp-size", "eight"), [("wrong-type", 3)]),
        ("0.5.9", ("--tp-size=8.0",), [("wrong-type", 2)]),
        ("0.5.9", ("--dtype", "fp16"), [("not-a-choice", 3)]),
        ("0.5.9", ("--tp-size",), [("missing-value", 2)]),
        ("0.5.9", ("--tp-size", "--dp-size", "2"), [("missing-value", 2)]),
        ("0.5.9", ("--tp-size", "4", "--tensor-parallel-size", "8"), [("duplicate", 2)]),
        ("0.5.9", ("--chunked-prefill-size", "-1"), []),
        ("0.5.9", ("--context-length", "64k"), [("wrong-type", 3)]),
        ("0.5.10.post1", ("--context-length", "64k"), []),
        ("0.5.9", ("--tp 8",), [("stray-positional", 2)]),
        ("0.5.23", ("--cuda-graph-config", '{"decode": {"max_bs": 8}}'), []),
        ("0.5.23", ("--cuda-graph-config", '{"decode": {"max_batch": 8}}'), [("wrong-type", 3)]),
        ("0.5.23", ("--cuda-graph-backend-prefill", "tc_piecewise"), [("wrong-type", 3)]),
        ("0.5.23", ("--lora-paths", "a=b", '{"lora_name": "x"}'), [("wrong-type", 4)]),
        ("0.4.10", ("--lora-paths", '{"lora_name": "x"}'), []),  # no JSON yet: a path like any
        ("0.5.9", ("--help",), [("help", 2)]),
    ],
)
def test_what_is_noted(version: str, argv: tuple[str, ...], expected: list[tuple[str, int]]) -> None:
    assert kinds(run(version, *MODEL, *argv)) == expected


def test_values_after_an_unknown_flag_belong_to_it() -> None:
    (problem,) = run("0.5.9", *MODEL, "--no-such-flag", "1", "2", "--tp-size", "8").problems
    assert (problem.kind, problem.words) == ("unknown", (2, 3, 4))


def test_a_switch_is_named_with_the_stray_word_after_it() -> None:
    (problem,) = run("0.5.9", *MODEL, "--trust-remote-code", "true").problems
    assert problem.data == {"value": "true", "switch": "--trust-remote-code"}


def test_a_typo_gets_its_neighbour() -> None:
    (problem,) = run("0.5.9", *MODEL, "--mem-fraction-statc", "0.8").problems
    nearest = problem.data["nearest"]
    assert isinstance(nearest, tuple)
    assert nearest[0] == "--mem-fraction-static"


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (("--tp", "8"), 8),
        (("--tp-size=8",), 8),
        (("--tp-size", "4", "--tp", "8"), 8),
        (("--tensor-parallel-size", "8"), 8),
        (("--tp-size", None), UNKNOWN),
    ],
)
def test_the_last_use_of_a_setting_counts(argv: tuple[str | None, ...], value: object) -> None:
    use = run("0.5.9", *MODEL, *argv).last("tp-size")
    assert use is not None
    assert use.value is value


def test_old_spellings_write_the_new_setting() -> None:
    use = run("0.5.18", *MODEL, "--disable-piecewise-cuda-graph").last("cuda-graph-backend-prefill")
    assert use is not None
    assert use.value == "disabled"
    use = run("0.5.23", *MODEL, "--cuda-graph-max-bs-decode", "64").last("cuda-graph-max-bs")
    assert use is not None
    assert use.value == 64


def test_unknown_text_is_a_value_where_one_is_due() -> None:
    parsed = run("0.5.9", *MODEL, "--tp-size", None, "--dtype", None)
    assert (parsed.problems, parsed.complete) == ((), True)


def test_unknown_words_elsewhere_make_the_launch_incomplete() -> None:
    parsed = run("0.5.9", None, "--tp-size", "8")
    assert (parsed.problems, parsed.complete) == ((), False)
    assert run("0.5.9", *MODEL, "--served-model-name", "a", None).complete is False


def test_nothing_is_missing_from_an_incomplete_launch() -> None:
    assert run("0.5.9", "--tp-size", complete=False).problems == ()
    assert kinds(run("0.5.9", "--tp-size", "8")) == [("missing-required", 0)]


def test_serve_takes_the_model_as_first_word() -> None:
    parsed = run("0.5.23", "org/model", "--tp-size", "8", serve_positional=True)
    use = parsed.last("model-path")
    assert use is not None
    assert (use.value, parsed.problems) == ("org/model", ())
    assert kinds(run("0.5.23", "org/model", "--tp-size", "8")) == [("missing-required", 0), ("stray-positional", 0)]


def test_negative_booleans() -> None:
    flag = next(flag for flag in table("0.5.23").flags() if flag.action == "optional_boolean")
    positive, negative = flag.spellings[0], "--no-" + flag.spellings[0][2:]
    for spelling, value in ((positive, True), (negative, False)):
        use = run("0.5.23", *MODEL, spelling).last(flag.setting)
        assert use is not None
        assert use.value is value
