"""Whole numbers as files write them: counts of GPUs and nodes, and ports."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"\d{1,6}\Z", re.ASCII)


def whole(text: str | None) -> int | None:
    """None for what is no number, and for one that nobody can mean."""
    return int(text) if text is not None and _WHOLE.match(text) else None


def count(text: str | None) -> int | None:
    """A number of things that are there: at least one."""
    return whole(text) or None
