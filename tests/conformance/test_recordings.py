"""The recordings are what they are meant to be: large enough, balanced, and reproducible from the generator."""

from __future__ import annotations

import random
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import generate
from tests.conformance.flags import RECORDED, load_flags
from tests.conformance.record import launch_key, read

FULL = ("0.5.9", "0.5.12.post1", "0.5.23")
OTHERS = ("0.4.6.post5", "0.4.10", "0.5.2", "0.5.5.post3", "0.5.8", "0.5.10.post1", "0.5.15.post1", "0.5.18", "0.5.20")
# Rules that apply after argument code (memory after loading, links between cards): nothing here can show them.
LATER = ("M8", "M9", "R2", "R3")
# Starred rules that refuse (the others change a value).
# fmt: off
REFUSING = (
    "P1", "P2", "P9", "P11", "A6", "A8", "A9", "S3", "S5", "S7", "Q1", "E2",
    "E3", "E18", "L2", "L3", "H1", "D7", "C1", "C3", "I1",
)
# fmt: on


def recorded(name: str) -> list[dict[str, Any]]:
    return read(RECORDED / f"{name}.jsonl.gz")


@pytest.mark.parametrize("version", FULL + OTHERS)
def test_recording_is_large_and_balanced(version: str) -> None:
    rows = recorded(f"sglang-{version}")
    refused = [row for row in rows if not row["ok"]]
    usage = [row for row in refused if row.get("usage")]
    assert len(rows) >= (500 if version in FULL else 100)
    assert len(usage) * 5 <= len(refused)
    assert len({row["where"] for row in refused if not row.get("usage")}) >= (60 if version in FULL else 10)


@pytest.mark.parametrize("version", FULL)
def test_every_starred_rule_is_hit_on_both_sides(version: str) -> None:
    rows = recorded(f"sglang-{version}")
    aimed = {(row["row"], row["ok"]) for row in rows}
    assert {row + side for row in generate.STARRED if row not in LATER for side in "!="} <= {name for name, _ in aimed}
    assert {(f"{row}!", False) for row in REFUSING} | {(f"{row}=", True) for row in REFUSING} <= aimed


@pytest.mark.parametrize("version", FULL)
def test_fresh_recording_shares_no_launch(version: str) -> None:
    fresh = recorded(f"fresh/sglang-{version}")
    assert len(fresh) >= 200
    assert not {launch_key(row) for row in fresh} & {launch_key(row) for row in recorded(f"sglang-{version}")}


@pytest.mark.parametrize("version", FULL + OTHERS)
def test_recording_holds_no_message_and_no_path_of_a_machine(version: str) -> None:
    for row in recorded(f"sglang-{version}"):
        keys = {"id", "row", "argv", "env", "gpu", "model", "ok"}
        assert set(row) - keys <= ({"settings", "derived"} if row["ok"] else {"where", "usage"})
        assert row["ok"] or re.fullmatch(r"srt/[\w/]+\.py:\d+ [\w<>.]+", row["where"])
        assert not re.search(r"/(home|root|work|tmp|usr)/", str(row))


def test_same_seed_gives_the_same_launches() -> None:
    version = generate.Version({name: flag for flag in load_flags("0.5.9") for name in flag.spellings})
    once, again = (list(generate.launches(version, 40, random.Random("0.5.9 1"))) for _ in range(2))
    assert once == again
    assert len({launch_key(row) for row in once}) == 40


def test_recording_follows_the_generator() -> None:
    """The first recorded launches are those that seed 1 gives, in order (some were left out)."""
    rows = {row["id"]: row for row in recorded("sglang-0.5.9")}
    version = generate.Version({name: flag for flag in load_flags("0.5.9") for name in flag.spellings})
    for launch in islice(generate.launches(version, 1200, random.Random("0.5.9 1")), 300):
        if launch["id"] in rows:
            assert launch.items() <= rows[launch["id"]].items()


def test_folder_stays_small() -> None:
    here = Path(__file__).parent
    assert sum(file.stat().st_size for file in here.rglob("*") if file.is_file() and file.suffix != ".pyc") < 6_000_000
