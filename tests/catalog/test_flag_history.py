"""The shipped flag history against the engine's own parsers, recorded offline."""

from __future__ import annotations

from typing import Any

import pytest

from preflight.catalog.load import Flag, load
from tests.conformance.flags import flag_rows

CATALOGUE = load("sglang")

ACTIONS = {
    "store": "_StoreAction",
    "store_true": "_StoreTrueAction",
    "optional_boolean": "BooleanOptionalAction",
    "lora_paths": "LoRAPathAction",
    "deprecated": "DeprecatedAction",
    "deprecated_store_true": "DeprecatedStoreTrueAction",
    "deprecated_store_const": "DeprecatedStoreConstAction",
    "deprecated_alias": "DeprecatedAliasStoreAction",
}
FIELDS = ("flags", "dest", "action", "type", "nargs", "choices", "default", "required", "hidden")
TYPES = {"json": "loads", "json_list": "json_list_type"}

# Registrations, spellings with --no-*, distinct dests, options with choices: counted on the real parsers.
COUNTS = {
    "0.4.6.post5": (145, 150, 145, 19),
    "0.4.10": (180, 187, 180, 24),
    "0.5.2": (210, 218, 210, 31),
    "0.5.5.post3": (279, 287, 279, 44),
    "0.5.8": (328, 336, 328, 53),
    "0.5.9": (331, 341, 331, 54),
    "0.5.10.post1": (354, 365, 353, 58),
    "0.5.12.post1": (387, 402, 386, 58),
    "0.5.15.post1": (437, 451, 422, 75),
    "0.5.18": (488, 506, 472, 89),
    "0.5.20": (494, 513, 494, 91),
    "0.5.23": (531, 559, 530, 96),
}


def _flags(version: str) -> list[Flag]:
    table = CATALOGUE.at(version)
    assert table is not None
    assert table.fit == "exact"
    return list(table.flags())


def _as_recorded(flag: Flag) -> dict[str, Any]:
    return {
        "flags": list(flag.spellings),
        "dest": flag.dest,
        "action": ACTIONS[flag.action],
        "type": TYPES.get(flag.type, flag.type),
        "nargs": flag.nargs,
        "choices": None if flag.choices is None else sorted(map(str, flag.choices)),
        "default": flag.default,
        "required": flag.required,
        "hidden": flag.hidden,
    }


@pytest.mark.parametrize("version", COUNTS)
def test_every_option_is_as_the_real_parser_has_it(version: str) -> None:
    ours = {flag.spellings[0]: _as_recorded(flag) for flag in _flags(version)}
    real = [row | {"type": row["type"] or "str"} for row in flag_rows(version)]
    for row in real:
        row["choices"] = row["choices"] and sorted(map(str, row["choices"]))  # one is a set: no order to compare
    assert [row for row in real if {key: ours.get(row["flags"][0], {}).get(key) for key in FIELDS} != _only_fields(row)] == []
    assert len(ours) == len(real)


def _only_fields(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in FIELDS}


@pytest.mark.parametrize("version", COUNTS)
def test_counts_are_those_of_the_real_parser(version: str) -> None:
    flags = _flags(version)
    assert COUNTS[version] == (
        len(flags),
        sum(len(flag.spellings) for flag in flags),
        len({flag.dest for flag in flags}),
        sum(flag.choices is not None for flag in flags),
    )


# What the real parsers make of an abbreviation: = declared, 1 unique prefix, A ambiguous, - unknown, per version of
# COUNTS.
PREFIXES = {
    "--tp": "111111111111",
    "--dp": "111111111111",
    "--pp": "111AAAAAAAAA",
    "--ep": "A===========",
    "--model": "1===========",
    "--dcp": "--------1AAA",
    "--cuda-graph-max-bs": "==========AA",
    "--cuda-graph-bs": "==========AA",
    "--speculative-algo": "111111111111",
    "--mem-fraction": "111111111111",
    "--context-len": "111111111111",
    "--attention-back": "111111111111",
    "--trust": "111111111AAA",
    "--page": "11111111111A",
    "--grpc": "---1111AAAAA",
    "--torchao": "111111111---",
    "--piecewise-cuda-graph-max-tokens": "---=======--",
    "--nsa-prefill-backend": "---=======--",
    "--stream-output": "==========--",
    "--attn-dp-size": "-----------=",
    "--tp_size": "------------",
}
KINDS = {"exact": "=", "prefix": "1", "ambiguous": "A", "unknown": "-"}


@pytest.mark.parametrize("spelling", PREFIXES)
def test_abbreviations_resolve_as_on_the_real_parsers(spelling: str) -> None:
    tables = [CATALOGUE.at(version) for version in COUNTS]
    assert "".join(KINDS[table.match(spelling).kind] for table in tables if table is not None) == PREFIXES[spelling]


# Since when a spelling is gone, of those whose last release was bisected on all releases between the covered ones.
REMOVED = {
    "--enable-flashmla": "0.4.7.post1",
    "--max-micro-batch-size": "0.5.3.post1",
    "--enable-ep-moe": "0.5.4.post1",
    "--load-watch-interval": "0.5.7",
    "--enable-double-sparsity": "0.5.11",
    "--torchao-config": "0.5.18",
    "--cuda-graph-max-bs": "0.5.20",
    "--nsa-prefill-backend": "0.5.20",
    "--stream-output": "0.5.20",
    "--cuda-graph-tc-compiler": "0.5.22",
}


@pytest.mark.parametrize("spelling", REMOVED)
def test_a_removed_spelling_has_its_release(spelling: str) -> None:
    history = CATALOGUE.history(spelling)
    assert history is not None
    assert history.removed_since == REMOVED[spelling]


def test_one_setting_keeps_its_name_across_renames() -> None:
    for setting, spellings in {
        "tp-size": ["--tp-size", "--tensor-parallel-size"],
        "cuda-graph-max-bs": ["--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"],
        "dsa-prefill-backend": ["--nsa-prefill", "--nsa-prefill-backend", "--dsa-prefill-backend"],
    }.items():
        for spelling in spellings:
            history = CATALOGUE.history(spelling)
            assert history is not None
            assert history.setting == setting


def test_the_successor_fits_the_release_it_is_asked_for() -> None:
    newest, old = CATALOGUE.at("0.5.23"), CATALOGUE.at("0.5.9")
    assert newest is not None
    assert old is not None
    renamed = newest.successor("--cuda-graph-max-bs")
    assert renamed is not None
    assert (renamed.kind, renamed.argv) == ("renamed", ("--cuda-graph-max-bs-decode",))
    backward = old.successor("--cuda-graph-max-bs-decode")
    assert backward is not None
    assert backward.argv == ("--cuda-graph-max-bs",)
    gone = newest.successor("--piecewise-cuda-graph-compiler")  # renamed once, then removed
    assert gone is not None
    assert gone.kind == "gone"
    mode = newest.successor("--nsa-prefill-cp-mode")
    assert mode is not None
    assert mode.values["in-seq-split"] == "zigzag"


def test_every_successor_names_an_option_that_some_release_has() -> None:
    for spelling, successor in CATALOGUE.successors.items():
        for named in [spelling, *(word for word in successor.argv if word.startswith("--"))]:
            assert CATALOGUE.history(named) is not None, named


def test_every_old_value_was_a_choice_once() -> None:
    every = {(flag.setting, choice) for v in CATALOGUE.releases for flag in _flags(v) for choice in flag.choices or ()}
    for setting in ("load-balance-method", "reasoning-parser", "quantization", "kv-cache-dtype", "tool-call-parser"):
        for old, candidates in CATALOGUE.value_successors(setting).items():
            assert (setting, old) in every
            assert all((setting, candidate) in every for candidate in candidates)


@pytest.mark.parametrize(
    ("version", "release", "fit"),
    [
        ("0.5.9", "0.5.9", "exact"),
        ("v0.5.9", "0.5.9", "exact"),
        ("0.5.12.post1", "0.5.12.post1", "exact"),
        ("0.5.9.post1", "0.5.9", "nearest"),
        ("0.5.10rc1", "0.5.9", "nearest"),
        ("0.3.6", "0.4.0", "older"),
        ("0.6.0", "0.5.23", "newer"),
    ],
)
def test_an_unlisted_version_is_judged_by_the_next_lower_one(version: str, release: str, fit: str) -> None:
    table = CATALOGUE.at(version)
    assert table is not None
    assert (table.release, table.fit) == (release, fit)


def test_what_is_not_a_version_has_no_table() -> None:
    assert CATALOGUE.at("latest") is None
    assert CATALOGUE.at("") is None


def test_releases_are_in_order_and_none_is_missing() -> None:
    releases = CATALOGUE.releases
    assert (len(releases), releases[0], releases[-1]) == (92, "0.4.0", "0.5.23")
    assert releases.index("0.5.9") < releases.index("0.5.10") < releases.index("0.5.10.post1")
