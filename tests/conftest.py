"""PREFLIGHT_FAST=1 is for the turn of an edit: few generated cases, no wheel. CI and the README's command run everything."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

FAST = os.environ.get("PREFLIGHT_FAST") == "1" and os.environ.get("CI") != "true"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not FAST:
        return
    slow = pytest.mark.skip(reason="PREFLIGHT_FAST=1: builds and installs the wheel")
    for item in items:
        if item.path.name == "test_wheel.py":
            item.add_marker(slow)
        function = getattr(item, "obj", None)
        chosen = getattr(function, "_hypothesis_internal_use_settings", None)
        if chosen is not None:
            few = settings(chosen, max_examples=min(chosen.max_examples, 60))
            setattr(function, "_hypothesis_internal_use_settings", few)  # noqa: B010
