"""Many releases' options as one compact book: per option the releases it lives in, and each form that it had.

    {"format": 1, "engine": "sglang", "releases": ["0.4.0", …], "choices": [[…], …],
     "flags": {"tp-size": [[0, null, ["--tensor-parallel-size", "--tp-size"], {"t": "int", "v": 1, …}], …]},
     "successors": {"--nsa-prefill-backend": {"kind": "renamed", "argv": ["--dsa-prefill-backend"]}, …},
     "values": {"kv-cache-dtype": {"fp4_e2m1": ["nvfp4", …]}}}

A row is first release, the release it is gone from (null: still there in the last), spellings, and what differs from
a plain `--name TEXT` with no default:

    d dest  a action  t type  n nargs  c choices (index)  v default  k const  r required  h hidden  x deprecated
    f fails when used  p attribute of ServerArgs  b fallback default  w the setting that it writes  j keys of a JSON
    object
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from preflight.catalog.declarations import DEPRECATED_TRUE, OPTIONAL_BOOLEAN, STORE, STORE_TRUE, Declared
from preflight.catalog.evaluate import Opaque
from preflight.catalog.sglang_names import STABLE_NAMES, SUCCESSORS, VALUE_SUCCESSORS

FORMAT = 1
SWITCHES = (STORE_TRUE, DEPRECATED_TRUE)
Release = tuple[str, Sequence[Declared]]


def make_book(engine: str, releases: Sequence[Release], known: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The book of `releases`, oldest first. `known` gives the settings of spellings seen in an earlier book."""
    namer = _Namer(known or {})
    choices: dict[str, int] = {}
    open_rows: dict[str, list[Any]] = {}
    flags: dict[str, list[list[Any]]] = {}
    for index, (_, declared) in enumerate(releases):
        settings = namer.name_all(declared)
        writers = _writers(declared, settings)
        seen = set()
        for flag, setting in zip(declared, settings, strict=True):
            detail = _detail(flag, choices)
            if writers.get(flag.dest, setting) != setting:
                detail["w"] = writers[flag.dest]
            row = [index, None, list(flag.spellings), detail]
            key = json.dumps([setting, row[2:]], sort_keys=True)
            seen.add(key)
            if key not in open_rows:
                open_rows[key] = row
                flags.setdefault(setting, []).append(row)
        for key in [key for key in open_rows if key not in seen]:
            open_rows.pop(key)[1] = index
    return {
        "format": FORMAT,
        "engine": engine,
        "releases": [version for version, _ in releases],
        "choices": [json.loads(text) for text in choices],
        "flags": dict(sorted(flags.items())),
        "successors": {spelling: _plain(successor._asdict()) for spelling, successor in sorted(SUCCESSORS.items())},
        "values": {name: {old: list(new) for old, new in values.items()} for name, values in sorted(VALUE_SUCCESSORS.items())},
    }


class _Namer:
    """Gives each option the setting it has had before, under any of its spellings."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = dict(known)

    def name_all(self, declared: Sequence[Declared]) -> list[str]:
        names = [self._name(flag) for flag in declared]
        for flag, name in zip(declared, names, strict=True):
            self._known.update(dict.fromkeys(flag.spellings, name))
        return names

    def _name(self, flag: Declared) -> str:
        stems = [spelling.lstrip("-") for spelling in flag.spellings]
        for stem in stems:
            if stem in STABLE_NAMES:
                return STABLE_NAMES[stem]
        return next((self._known[spelling] for spelling in flag.spellings if spelling in self._known), stems[0])


def _writers(declared: Sequence[Declared], settings: Sequence[str]) -> dict[str, str]:
    """The setting behind each dest: that of its current option, where old spellings share it."""
    out: dict[str, str] = {}
    for flag, setting in zip(declared, settings, strict=True):
        if flag.dest not in out or not flag.action.startswith("deprecated"):
            out[flag.dest] = setting
    return out


def implied_dest(spellings: Sequence[str]) -> str:
    return next((s for s in spellings if s.startswith("--")), spellings[0]).lstrip("-").replace("-", "_")


def _detail(flag: Declared, choices: dict[str, int]) -> dict[str, Any]:
    switch = flag.action in SWITCHES
    default = None if isinstance(flag.default, Opaque) else flag.default
    out: dict[str, Any] = {
        "d": None if flag.dest == implied_dest(flag.spellings) else flag.dest,
        "a": None if flag.action == STORE else flag.action,
        "t": None if flag.type == "str" else flag.type,
        "n": None if switch or flag.action == OPTIONAL_BOOLEAN else flag.nargs,
        "k": None if switch or isinstance(flag.const, Opaque) else flag.const,
        "r": flag.required or None,
        "h": flag.hidden or None,
        "x": flag.deprecated or None,
        "f": flag.fails or None,
        "p": flag.field if flag.field != flag.dest else None,
        "b": flag.fallback,
        "j": flag.keys,
    }
    out = {key: value for key, value in out.items() if value is not None}
    if flag.choices is not None:
        out["c"] = choices.setdefault(json.dumps(list(flag.choices)), len(choices))
    if default is not (False if switch else None):
        out["v"] = default
    return out


def _plain(successor: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in successor.items() if value}


def dump_book(book: Mapping[str, Any]) -> str:
    """Minified, one option, choice list and successor a line, so that a new release is a small change."""
    parts = []
    for key, value in book.items():
        if isinstance(value, dict):
            lines = ",\n".join(f"{_json(name)}:{_json(item)}" for name, item in value.items())
            parts.append(f"{_json(key)}:{{\n{lines}\n}}")
        elif isinstance(value, list) and key != "releases":
            lines = ",\n".join(_json(item) for item in value)
            parts.append(f"{_json(key)}:[\n{lines}\n]")
        else:
            parts.append(f"{_json(key)}:{_json(value)}")
    return "{" + ",\n".join(parts) + "}\n"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
