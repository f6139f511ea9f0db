"""What the `preflight catalog` commands do. Their command line is elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from preflight.catalog.declarations import read_flags
from preflight.catalog.environment import read_environment
from preflight.catalog.features import read_features
from preflight.catalog.history import (
    Book,
    Form,
    dump_book,
    feature_releases,
    flag_forms,
    flag_releases,
    in_order,
    make_flag_book,
    make_variable_book,
    settings_of,
    variable_forms,
    variable_releases,
)
from preflight.catalog.load import Catalogue, load
from preflight.catalog.mirror import make_mirror_book, mirror_releases, read_mirror
from preflight.catalog.review import Mirror, load_mirror
from preflight.catalog.source import Source

ENGINE = "sglang"


def build(wheels: Sequence[Path], out: Path) -> list[str]:
    """Add the releases in `wheels` to the histories in the folder `out`, which are made where there are none.

    A release that they hold already is read anew. What it found, a line each: per release the options that came and
    went, and the mirrored functions that no one has read in this form. Raises ValueError for a file that is not a
    wheel of the engine, or one whose options cannot be read; then nothing is written.
    """
    sources = {source.version: source for source in map(Source, wheels)}
    flag_book, variable_book, mirror_book = (_book(out / name) for name in _BOOKS)
    flags = flag_releases(flag_book) if flag_book else {}
    features = feature_releases(flag_book) if flag_book else {}
    variables = variable_releases(variable_book) if variable_book else {}
    functions = mirror_releases(mirror_book) if mirror_book else {}
    for version in in_order(sources):
        source = sources[version]
        flags[version] = flag_forms(read_flags(source), _known_before(version, flags))
        features[version] = read_features(source)
        variables[version] = variable_forms(read_environment(source))
        functions[version] = read_mirror(source)
    books = (
        make_flag_book(ENGINE, flags, features),
        make_variable_book(ENGINE, variables),
        make_mirror_book(ENGINE, functions, mirror_book["reviewed"] if mirror_book else []),
    )
    for name, book in zip(_BOOKS, books, strict=True):
        _write(out / name, book)
    catalogue, mirror = Catalogue(ENGINE, [books[0]]), Mirror([books[2]])
    return [line for version in in_order(sources) for line in _report(version, catalogue, mirror)]


_BOOKS = (f"{ENGINE}.json", f"{ENGINE}-env.json", f"{ENGINE}-mirror.json")


def _known_before(version: str, flags: dict[str, list[Form]]) -> dict[str, str]:
    """The setting of every spelling of the releases before `version`, the last one's where they differ."""
    known: dict[str, str] = {}
    for earlier in in_order([*flags, version]):
        if earlier == version:
            break
        known.update(settings_of(flags[earlier]))
    return known


def _report(version: str, catalogue: Catalogue, mirror: Mirror) -> Iterator[str]:
    table, releases = catalogue.at(version), catalogue.releases
    assert table is not None
    at = releases.index(version)
    before = catalogue.at(releases[at - 1]) if at else None
    mine, others = set(table.spellings), set(before.spellings) if before is not None else set()
    yield f"{version}: {len(mine)} spellings, {len(mine - others)} new, {len(others - mine)} gone"
    for title, names in (("new", mine - others), ("gone", others - mine)):
        if before is not None and names:
            yield f"  {title}: {' '.join(sorted(names))}"
    unexplained = [name for name in sorted(others - mine) if table.successor(name) is None]
    if unexplained:
        yield f"  gone without a successor in sglang_names.py: {' '.join(unexplained)}"
    unread = mirror.unread(version)
    if unread:
        yield f"  mirrored functions in a form that nobody has read: {' '.join(unread)}"


def add(wheel: Path, root: Path) -> Path:
    """Write one more release below `root`, where `load` finds it; the file's path.

    Raises ValueError as `build` does.
    """
    source = Source(wheel)
    version = source.version
    known = {spelling: flag.setting for flag in load(ENGINE).newest.flags() for spelling in flag.spellings}
    book = (
        make_variable_book(ENGINE, {version: variable_forms(read_environment(source))})
        | make_mirror_book(ENGINE, {version: read_mirror(source)}, [])
        | make_flag_book(ENGINE, {version: flag_forms(read_flags(source), known)}, {version: read_features(source)})
    )
    path = root / ".preflight" / "flags" / f"{ENGINE}-{version}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, book)
    return path


def mark_reviewed(versions: Iterable[str], out: Path) -> None:
    """Note in the folder `out` that the mirrored functions of `versions` have been read.

    Raises ValueError for a release that the history does not hold.
    """
    book = _book(out / _BOOKS[2])
    if book is None:
        raise ValueError(f"{out} holds no {_BOOKS[2]}")
    missing = sorted(set(versions) - set(book["releases"]))
    if missing:
        raise ValueError(f"the history does not hold {', '.join(missing)}")
    book["reviewed"] = in_order({*book["reviewed"], *versions})
    _write(out / _BOOKS[2], book)


def history(name: str | None = None, project: Path | None = None) -> list[str]:
    """The life of a flag (`--name`) or of a mirrored function; without a name, one line for each function.

    Empty where no release has it.
    """
    if name is not None and name.startswith("--"):
        return _flag_history(name, load(ENGINE, project))
    mirror = load_mirror(ENGINE, project)
    if name is None:
        return [_function_line(each, mirror) for each in mirror.names]
    forms = mirror.history(name.strip("_"))
    return [f"{form.since:14}  {form.gone or '':14}  {form.fingerprint}  {form.topic:9}  {form.place}" for form in forms]


def _function_line(name: str, mirror: Mirror) -> str:
    forms = mirror.history(name)
    state = "gone" if all(form.gone for form in forms) else "alive"
    return f"{name:48}  {len(forms):3} forms  last new in {forms[-1].since:14}  {state}"


def _flag_history(spelling: str, catalogue: Catalogue) -> list[str]:
    found = catalogue.history(spelling)
    if found is None:
        return []
    lines = [f"{spelling} sets {found.setting}"]
    lines += [f"  {since} to {'now' if gone is None else f'before {gone}'}" for since, gone in found.spans]
    if found.deprecated_since:
        lines.append(f"  deprecated since {found.deprecated_since}")
    if found.successor is not None:
        words = " ".join(found.successor.argv)
        lines.append(f"  {found.successor.kind}{f': {words}' if words else ''} {found.successor.note}".rstrip())
    return lines


def _book(path: Path) -> Book | None:
    if not path.is_file():
        return None
    book: Book = json.loads(path.read_text(encoding="utf-8"))
    return book


def _write(path: Path, book: Book) -> None:
    path.write_text(dump_book(book), encoding="utf-8")
