"""Many releases as one compact book: per name the releases it lives in, and each form that it had.

    {"format": 1, "engine": "sglang", "releases": ["0.4.0", …], "choices": [[…], …],
     "flags": {"tp-size": [[0, null, ["--tensor-parallel-size", "--tp-size"], {"t": "int", "v": 1, …}], …]},
     "successors": {"--nsa-prefill-backend": {"kind": "renamed", "argv": ["--dsa-prefill-backend"]}, …},
     "values": {"kv-cache-dtype": {"fp4_e2m1": ["nvfp4", …]}}, "features": {"serve": [[43, null]], …}}

A row is first release, the release it is gone from (null: still there in the last), spellings, and what differs from a
plain `--name TEXT` with no default:

    d dest  a action  t type  n nargs  c choices (index)  v default  k const  r required  h hidden  x deprecated
    f fails when used  p attribute of ServerArgs  b fallback default  w the setting that it writes  j keys of a JSON
    object

The book of variables has `"variables": {NAME: [[first, gone, {…}], …]}`:

    k kind (r read by name, m mentioned; else registered)  t type  v default  c computed default  x deprecated
    e the variable that takes its place  f the option that does
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from preflight.catalog.declarations import DEPRECATED_TRUE, OPTIONAL_BOOLEAN, STORE, STORE_TRUE, Declared
from preflight.catalog.environment import REGISTERED, Variable
from preflight.catalog.evaluate import Opaque
from preflight.catalog.sglang_names import STABLE_NAMES, SUCCESSORS, VALUE_SUCCESSORS
from preflight.catalog.versions import version_key

FORMAT = 1
SWITCHES = (STORE_TRUE, DEPRECATED_TRUE)

Form = tuple[str, list[Any]]
"""A name and the rest of its row."""
Releases = Mapping[str, Sequence[Form]]
"""By version."""
Book = dict[str, Any]


# -- spans -------------------------------------------------------------------------------------------------------------


def in_order(versions: Iterable[str]) -> list[str]:
    return sorted(versions, key=lambda version: version_key(version) or ((), 0, 0))


def fold(releases: Releases) -> dict[str, list[list[Any]]]:
    """Rows by name: each form once, with the span of releases (places in their order) that it lives in."""
    open_rows: dict[str, list[Any]] = {}
    out: dict[str, list[list[Any]]] = {}
    for index, version in enumerate(in_order(releases)):
        seen = set()
        for name, rest in releases[version]:
            key = json.dumps([name, rest], sort_keys=True)
            seen.add(key)
            if key not in open_rows:
                open_rows[key] = [index, None, *rest]
                out.setdefault(name, []).append(open_rows[key])
        for key in [key for key in open_rows if key not in seen]:
            open_rows.pop(key)[1] = index
    return dict(sorted(out.items()))


def unfold(versions: Sequence[str], rows: Mapping[str, list[list[Any]]]) -> dict[str, list[Form]]:
    """What `fold` was given."""
    out: dict[str, list[Form]] = {version: [] for version in versions}
    for name, forms in rows.items():
        for first, gone, *rest in forms:
            for version in versions[first:gone]:
                out[version].append((name, rest))
    return out


# -- flags -------------------------------------------------------------------------------------------------------------


def flag_forms(declared: Sequence[Declared], known: Mapping[str, str]) -> list[Form]:
    """One release's options under their settings; `known` gives the settings of spellings seen before."""
    settings = [_setting(flag, known) for flag in declared]
    writers = _writers(declared, settings)
    out: list[Form] = []
    for flag, setting in zip(declared, settings, strict=True):
        detail = _detail(flag)
        if writers.get(flag.dest, setting) != setting:
            detail["w"] = writers[flag.dest]
        out.append((setting, [list(flag.spellings), detail]))
    return out


def settings_of(forms: Iterable[Form]) -> dict[str, str]:
    """The setting behind each spelling."""
    return {spelling: name for name, rest in forms for spelling in rest[0]}


def make_flag_book(engine: str, releases: Releases, features: Mapping[str, Sequence[str]]) -> Book:
    """`features`: those of `preflight.catalog.features`, by version."""
    rows = fold(releases)
    choices: dict[str, int] = {}
    for forms in rows.values():
        for form in forms:
            if "c" in form[3]:
                listed = json.dumps(form[3]["c"])
                form[3] = form[3] | {"c": choices.setdefault(listed, len(choices))}
    return {
        "format": FORMAT,
        "engine": engine,
        "releases": in_order(releases),
        "choices": [json.loads(listed) for listed in choices],
        "features": fold({version: [(name, []) for name in names] for version, names in features.items()}),
        "flags": rows,
        "successors": {spelling: _plain(successor._asdict()) for spelling, successor in sorted(SUCCESSORS.items())},
        "values": {
            setting: {old: list(new) for old, new in values.items()} for setting, values in sorted(VALUE_SUCCESSORS.items())
        },
    }


def flag_releases(book: Book) -> dict[str, list[Form]]:
    """The releases that a flag book was made of."""
    releases = unfold(book["releases"], book["flags"])
    for forms in releases.values():
        for _, rest in forms:
            if isinstance(rest[1].get("c"), int):
                rest[1] = rest[1] | {"c": book["choices"][rest[1]["c"]]}
    return releases


def feature_releases(book: Book) -> dict[str, list[str]]:
    """The features that a flag book was made of."""
    return {v: [name for name, _ in forms] for v, forms in unfold(book["releases"], book["features"]).items()}


def _setting(flag: Declared, known: Mapping[str, str]) -> str:
    """The name it has had before, under any of its spellings."""
    stems = [spelling.lstrip("-") for spelling in flag.spellings]
    for stem in stems:
        if stem in STABLE_NAMES:
            return STABLE_NAMES[stem]
    return next((known[spelling] for spelling in flag.spellings if spelling in known), stems[0])


def _writers(declared: Sequence[Declared], settings: Sequence[str]) -> dict[str, str]:
    """The setting behind each dest: that of its current option, where old spellings share it."""
    out: dict[str, str] = {}
    for flag, setting in zip(declared, settings, strict=True):
        if flag.dest not in out or not flag.action.startswith("deprecated"):
            out[flag.dest] = setting
    return out


def implied_dest(spellings: Sequence[str]) -> str:
    return next((s for s in spellings if s.startswith("--")), spellings[0]).lstrip("-").replace("-", "_")


def _detail(flag: Declared) -> dict[str, Any]:
    switch = flag.action in SWITCHES
    default = None if isinstance(flag.default, Opaque) else flag.default
    out: dict[str, Any] = {
        "d": None if flag.dest == implied_dest(flag.spellings) else flag.dest,
        "a": None if flag.action == STORE else flag.action,
        "t": None if flag.type == "str" else flag.type,
        "n": None if switch or flag.action == OPTIONAL_BOOLEAN else flag.nargs,
        "c": None if flag.choices is None else list(flag.choices),
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
    if default is not (False if switch else None):
        out["v"] = default
    return out


def _plain(successor: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in successor.items() if value}


# -- variables ---------------------------------------------------------------------------------------------------------


def variable_forms(variables: Sequence[Variable]) -> list[Form]:
    out: list[Form] = []
    for variable in variables:
        detail = {
            "k": None if variable.kind == REGISTERED else variable.kind[0],
            "t": variable.type,
            "v": variable.default,
            "c": variable.computed or None,
            "x": variable.deprecated or None,
            "e": variable.replaced_by,
            "f": variable.flag,
        }
        out.append((variable.name, [{key: value for key, value in detail.items() if value is not None}]))
    return out


def make_variable_book(engine: str, releases: Releases) -> Book:
    return {"format": FORMAT, "engine": engine, "releases": in_order(releases), "variables": fold(releases)}


def variable_releases(book: Book) -> dict[str, list[Form]]:
    return unfold(book["releases"], book["variables"])


# -- text --------------------------------------------------------------------------------------------------------------


def dump_book(book: Mapping[str, Any]) -> str:
    """Minified, one name or choice list a line, so that a new release is a small change."""
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
