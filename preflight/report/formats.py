"""The formats of `lint`, by name. Each is a module of its own, loaded only when asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from preflight.report.model import Options, Report

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")
HOSTS = ("sarif", "github", "gitlab")
"""Those that a code host reads: paths relative to the repository, rules described."""

Render = Callable[[Report, Options], str]


def renderer(name: str) -> Render:
    """The `render` of a format: the whole report as a text that ends with a line feed, or is empty."""
    module = import_module(f"preflight.report.{'as_json' if name == 'json' else name}")
    return cast(Render, module.render)
