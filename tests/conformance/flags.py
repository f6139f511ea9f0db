"""The flags of the engine's own parser, as recorded under recorded/flags."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).parent / "recorded"


class Flag(NamedTuple):
    spellings: tuple[str, ...]  # the canonical one first
    dest: str
    switch: bool  # takes no value
    type: str | None
    nargs: str | int | None
    choices: tuple[str, ...]  # as typed; empty: anything of the type


def flag_rows(version: str) -> list[dict[str, Any]]:
    """The parser's registrations in order: `flags`, `dest`, `action`, `type`, `nargs`, `choices`, `default`, `required`, …"""
    with gzip.open(RECORDED / "flags" / f"sglang-{version}.json.gz", "rt") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return rows


def load_flags(version: str) -> list[Flag]:
    return [
        Flag(
            tuple(row["flags"]), row["dest"], row["nargs"] == 0, row["type"], row["nargs"], tuple(map(str, row["choices"] or ()))
        )
        for row in flag_rows(version)
    ]
