"""Which command lines the engine's own parser refused, and which it took: usage.jsonl, and every recorded launch."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from preflight.catalog.argparse_model import parse
from preflight.catalog.load import load

HERE = Path(__file__).parent
CATALOGUE = load("sglang")
CONSTRAINTS = [json.loads(line) for line in (HERE / "usage.jsonl").read_text(encoding="utf-8").splitlines()]
RECORDINGS = sorted((HERE.parent / "conformance" / "recorded").glob("sglang-*.jsonl.gz"))


class Word(NamedTuple):
    value: str | None


def refused(version: str, argv: list[str]) -> bool:
    table = CATALOGUE.at(version)
    assert table is not None
    return any(problem.refuses for problem in parse([Word(text) for text in argv], table).problems)


def by_parser(row: dict[str, object]) -> bool:
    """Whether the recorded launch ended in the parser: a usage error, or in the action of an option."""
    return bool(row.get("usage")) or str(row.get("where")).endswith(" __call__")


@pytest.mark.parametrize("row", CONSTRAINTS, ids=[f"{row['row']}-{row['version']}-{n}" for n, row in enumerate(CONSTRAINTS)])
def test_constraint_launches(row: dict[str, object]) -> None:
    argv = row["argv"]
    assert isinstance(argv, list)
    assert refused(str(row["version"]), argv) == row["refused"]


@pytest.mark.parametrize("path", RECORDINGS, ids=[path.name for path in RECORDINGS])
def test_recorded_launches(path: Path) -> None:
    version = path.name.removeprefix("sglang-").removesuffix(".jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    wrong = [row["id"] for row in rows if refused(version, row["argv"]) != by_parser(row)]
    assert (wrong, len(rows) > 100) == ([], True)
