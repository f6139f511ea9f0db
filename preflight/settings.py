"""Project settings: preflight.toml, or [tool.preflight] in pyproject.toml. They give files their context."""

import os
import re
from collections.abc import Iterator, Mapping

from preflight.diagnostics import ERROR, Finding, Problem
from preflight.launch import Table
from preflight.records import NamedTuple
from preflight.text import Document, Located, Place

ADDED_RELEASES = os.path.join(".preflight", "flags")
FILE_NAMES = ("preflight.toml", "pyproject.toml")
UNREADABLE, UNKNOWN_CODE = "CFG006", "CFG009"

Codes = tuple[Located[str], ...]


class FileSettings(NamedTuple):
    """What the settings say of one file."""

    tables: Mapping[str, Table] = {}
    """hardware, model, observed, expect: by key, the last table that applies."""
    engine_version: Located[str] | None = None
    ignore: Codes = ()


class Section(NamedTuple):
    """The top level, or one [files."pattern"]."""

    pattern: Located[str] | None
    context: FileSettings


class Settings(NamedTuple):
    """`problems` that are errors mean that the settings are broken: a run that needs them cannot be judged."""

    document: Document
    sections: tuple[Section, ...] = ()
    select: Codes = ()
    extend_select: Codes = ()
    ignore: Codes = ()
    exclude: Codes = ()
    fail_on: Located[str] | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.document.path))

    def for_file(self, path: str) -> FileSettings:
        """The context of the file at `path`: later sections win key by key."""
        relative = _relative(path, self.folder)
        tables: dict[str, dict[str, Located[object]]] = {}
        version: Located[str] | None = None
        ignore: list[Located[str]] = []
        for section in self.sections:
            if section.pattern is not None and (relative is None or not matches(section.pattern.value, relative)):
                continue
            for name, table in section.context.tables.items():
                tables.setdefault(name, {}).update(table)
            version = section.context.engine_version or version
            ignore += section.context.ignore
        return FileSettings(tables, version, tuple(ignore))

    def excludes(self, path: str) -> bool:
        """Whether a walk leaves `path`, a file or a folder, out."""
        relative = _relative(path, self.folder)
        return relative is not None and any(matches(one.value, relative) for one in self.exclude)


def _relative(path: str, folder: str) -> str | None:
    """`path` below `folder`, with forward slashes; None where it is elsewhere."""
    full = os.path.abspath(path)
    if not full.startswith(folder.rstrip(os.sep) + os.sep):
        return None
    return full[len(folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")


_patterns: dict[str, re.Pattern[str]] = {}


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern, as .gitignore has them, names `path` or a folder above it. `**` is any number of folders; a pattern
    without a slash names a file or folder at any depth."""
    compiled = _patterns.get(pattern)
    if compiled is None:
        try:
            compiled = re.compile(_regex(pattern), re.S)
        except re.error:  # "[z-a]": such a file name is possible
            compiled = re.compile(re.escape(pattern) + r"(?:/.*)?\Z")
        _patterns[pattern] = compiled
    return compiled.match(path) is not None


def _regex(pattern: str) -> str:
    body = pattern.removeprefix("./").strip("/")
    start = "" if "/" in pattern.removeprefix("./").rstrip("/") else "(?:.*/)?"
    parts: list[str] = []
    at = 0
    for match in re.finditer(r"(?:(?<=/)|^)\*\*/|(?:(?<=/)|^)\*\*\Z|\*+|\?|\[!?\]?[^\]/]*\]", body):
        parts.append(re.escape(body[at : match.start()]))
        token, at = match[0], match.end()
        if token == "**/":
            parts.append("(?:.*/)?")
        elif token.startswith("*"):
            parts.append(".*" if token == "**" and match.end() == len(body) else "[^/]*")
        elif token == "?":
            parts.append("[^/]")
        else:
            inside = token[2:-1] if token[1] == "!" else token[1:-1]
            inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside)
            parts.append(f"(?!/)[{'^' if token[1] == '!' else ''}{inside}]")
    parts.append(re.escape(body[at:]))
    return start + "".join(parts) + r"(?:/.*)?\Z"


def unknown_codes(settings: Settings, known: Mapping[str, str]) -> list[Problem]:
    """Codes and names that no rule has. `known` maps every code, name and alias to its code (`suppressions.names_of`)."""
    written = [*settings.select, *settings.extend_select, *settings.ignore]
    written += [code for section in settings.sections for code in section.context.ignore]
    problems = []
    for code in written:
        if code.value in known or any(one.startswith(code.value.upper()) for one in known.values()):
            continue
        from preflight.readers.values import nearest

        near = nearest(code.value, known)
        remedy = f"Use {near}." if near else "preflight rule lists all codes."
        problems.append(Problem(UNKNOWN_CODE, Finding(f"{code.value} is no code of preflight. {remedy}", code.place, ERROR)))
    return problems


class SettingsLookup:
    """The nearest settings above each file, up to the repository root and no further. Each folder is looked at once."""

    def __init__(self) -> None:
        self._known: dict[str, Settings | None] = {}
        self._adding: dict[str, str | None] = {}

    def for_path(self, path: str) -> Settings | None:
        return self._in(os.path.dirname(os.path.abspath(path)))

    def added_releases(self, path: str) -> str | None:
        """The nearest folder above a file, up to the repository root, with releases of its own in `.preflight/flags`."""
        folder = os.path.dirname(os.path.abspath(path))
        if folder not in self._adding:
            self._adding[folder] = next((one for one in _up(folder) if os.path.isdir(os.path.join(one, ADDED_RELEASES))), None)
        return self._adding[folder]

    def _in(self, start: str) -> Settings | None:
        seen: list[str] = []
        folder, found = start, None
        while True:
            if folder in self._known:
                found = self._known[folder]
                break
            seen.append(folder)
            found = _settings_in(folder)
            parent = os.path.dirname(folder)
            if found is not None or parent == folder or os.path.lexists(os.path.join(folder, ".git")):
                break
            folder = parent
        for one in seen:
            self._known[one] = found
        return found


def _up(folder: str) -> Iterator[str]:
    """A folder and those above it, up to the repository root."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):
            return
        folder = parent


def _settings_in(folder: str) -> Settings | None:
    for name in FILE_NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            found = load_settings(path)
            if found is not None:
                return found
    return None


def load_settings(path: str) -> Settings | None:
    """The settings at `path`, shown relative to the working directory where they are below it."""
    shown = _relative(path, os.getcwd()) or path
    from preflight.readers.settings_file import read_settings

    try:
        with open(path, "rb") as file:
            return read_settings(Document.from_bytes(shown, file.read()))
    except OSError as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        return _unreadable(shown, f"{shown} {why}. Check the path of the settings.")
    except UnicodeDecodeError as error:
        if os.path.basename(path) == FILE_NAMES[1]:
            return None
        return _unreadable(shown, f"{shown} is not UTF-8: byte {error.start} is no part of a character. Save it as UTF-8.")


def _unreadable(path: str, message: str) -> Settings:
    document = Document(path, "")
    return Settings(document, problems=(Problem(UNREADABLE, Finding(message, document.place(0, 0), ERROR)),))


class Shown(NamedTuple):
    """One line of --show-settings: the value as written, and where."""

    key: str
    value: str
    origin: str


def shown(settings: Settings | None, path: str) -> list[Shown]:
    """What holds for the file at `path`, each with its origin."""
    if settings is None:
        return []
    context = settings.for_file(path)
    lines: list[Shown] = []
    if context.engine_version is not None:
        lines.append(_show("engine-version", context.engine_version.place))
    for name, table in context.tables.items():
        lines += [_show(f"{name}.{key}", located.place) for key, located in table.items()]
    for name, codes in (
        ("select", settings.select),
        ("extend-select", settings.extend_select),
        ("ignore", (*settings.ignore, *context.ignore)),
        ("exclude", settings.exclude),
    ):
        lines += [_show(name, code.place) for code in codes]
    if settings.fail_on is not None:
        lines.append(_show("fail-on", settings.fail_on.place))
    return lines


def _show(key: str, place: Place) -> Shown:
    line, column = place.document.lines.position(place.span.start)
    written = place.document.text[place.span.start : place.span.end]
    return Shown(key, written, f"{place.path}:{line}:{column}")
