"""Order of engine versions."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc|post|dev)[._-]?(\d+))?(?:[._-]?dev[._-]?(\d+))?(?:\+.*)?", re.ASCII)

Key = tuple[tuple[int, ...], int, int]
_PHASES = {"dev": -4, "a": -3, "b": -2, "rc": -1, None: 0, "post": 1}


def version_key(text: str) -> Key | None:
    """Sorts as releases follow each other: 0.5.9rc1 < 0.5.9 < 0.5.9.post1 < 0.5.10. None: not a version."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), _PHASES[found[2]], int(found[3] or 0)
