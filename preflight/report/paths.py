"""Paths as code hosts want them: relative to the repository root, forward slashes, symlinks resolved."""

from __future__ import annotations

import os


def in_repository(path: str, root: str | None) -> str:
    """`path` relative to `root`; as given (with forward slashes, without `./`) where there is no root or it lies outside."""
    if root is not None:
        try:
            base, target = os.path.realpath(root), os.path.realpath(path)
            if os.path.commonpath((base, target)) == base:
                path = os.path.relpath(target, base)
        except ValueError:  # another drive, or no path of this system
            pass
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path


def repository_root(start: str) -> str | None:
    """The nearest folder from `start` up that holds `.git`."""
    folder = os.path.realpath(start)
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
