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
