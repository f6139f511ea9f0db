"""Finding the files of a folder that may hold a launch: by name, by .gitignore, and by a look inside."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator

from preflight.readers import kind_of_name
from preflight.records import NamedTuple

LARGEST_BYTES = 10_000_000
_TOML = re.compile(rb"^[ \t]*engine[ \t]*=|^[ \t]*\[\[[ \t]*launch[ \t]*\]\]", re.M)
_FLAGS = re.compile(
    rb"^[ \t]*(?:tensor[-_]parallel[-_]size|max[-_]model[-_]len|mem[-_]fraction[-_]static|tp[-_]size)[ \t]*:", re.M
)


class Pattern(NamedTuple):
    """A line of a .gitignore."""

    glob: str
    folders_only: bool
    keeps: bool


class Ignores:
    """The .gitignore files from the root of a repository down to the folder at hand."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Pattern, ...]] = {}

    def ignores(self, path: str, above: list[str], *, folder: bool) -> bool:
        """Whether git leaves out `path`; `above`: the folders whose .gitignore counts, outermost first. All absolute."""
        from preflight.settings import matches

        for base in reversed(above):
            relative = path[len(base) :].lstrip("/")
            for pattern in reversed(self.patterns(base)):
                if (folder or not pattern.folders_only) and matches(pattern.glob, relative):
                    return not pattern.keeps
        return False

    def patterns(self, folder: str) -> tuple[Pattern, ...]:
        found = self._read.get(folder)
        if found is None:
            found = self._read[folder] = tuple(_patterns(os.path.join(folder, ".gitignore")))
        return found


def _patterns(path: str) -> Iterator[Pattern]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(1_000_000).split("\n")
    except OSError:
        return
    for line in lines:
        line = line.rstrip("\r")
        line = line.rstrip(" ") if not line.endswith("\\ ") else line
        if not line or line.startswith("#"):
            continue
        keeps = line.startswith("!")
        glob = line[1:] if keeps else line.removeprefix("\\")
        if glob.strip("/"):
            yield Pattern(glob.rstrip("/"), glob.endswith("/"), keeps)


def _above(folder: str) -> list[str]:
    """The folders from the repository's root down to `folder`; outside of a repository that one alone."""
    found = [folder]
    while not os.path.exists(os.path.join(found[0], ".git")):
        parent = os.path.dirname(found[0])
        if parent == found[0]:
            return [folder]
        found.insert(0, parent)
    return found


def walk(folder: str, excluded: Callable[[str], bool]) -> Iterator[str]:
    """The files below `folder` that may hold a launch, in a stable order. Links to folders are not followed: no loops."""
    ignores = Ignores()
    root = os.path.abspath(folder)
    rules: dict[str, list[str]] = {root: _above(root)}
    for here, folders, names in os.walk(folder):
        below = here[len(folder) :].strip("/")
        absolute = os.path.join(root, below) if below else root
        above = rules.pop(absolute, [root])
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and not ignores.ignores(os.path.join(absolute, name), above, folder=True)
            and not excluded(os.path.join(here, name))
        )
        for name in folders:
            inner = os.path.join(absolute, name)
            rules[inner] = [*above, inner]
        for name in sorted(names):
            if kind_of_name(name) is None or ignores.ignores(os.path.join(absolute, name), above, folder=False):
                continue
            path = os.path.join(here, name)
            if not _plain(path):
                continue
            if holds_anchor(path) and not excluded(path):
                yield path


def _plain(path: str) -> bool:
    """Whether a walk may open what is there: a file, or a link that leads to one or nowhere. It waits for no pipe."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True  # that it cannot be read has to be said


def holds_anchor(path: str) -> bool:
    """Whether it is worth reading a file: it names an engine, or its name does. Unreadable ones are: that has to be said."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError:
        return True
    name = os.path.basename(path).lower()
    kind = kind_of_name(name)
    if kind == "launch_file":
        return name == "launch.toml" or name.endswith(".launch.toml") or _TOML.search(data) is not None
    if kind == "":  # no suffix: a script by its first line
        first = data[:200].split(b"\n", 1)[0]
        return first.startswith(b"#!") and (b"sglang" in data or b"vllm" in data)
    if b"sglang" in data or b"vllm" in data:
        return True
    return kind == "manifest" and ("sglang" in name or "vllm" in name or _FLAGS.search(data) is not None)
