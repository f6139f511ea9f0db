"""Every rule documents itself, and its examples are executed: bad fires, good does not, a fix makes bad clean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from preflight.fix import apply
from preflight.lint import lint_document
from preflight.registry import module_names, registry
from preflight.selection import Selection
from preflight.text import Document

_EXAMPLE = re.compile(r"^```(\w+) (bad|good)\n(.*?)^```", re.M | re.S)
_FILE = {
    "toml": "launch.toml",
    "yaml": "deployment.yaml",
    "sh": "launch.sh",
    "bash": "launch.sh",
    "dockerfile": "Dockerfile",
    "settings": "preflight.toml",
}


def examples(code: str, kind: str) -> Iterator[tuple[str, str]]:
    for language, which, text in _EXAMPLE.findall(registry().documentation(code)):
        if which == kind:
            yield _FILE[language], text


def found(path: str, text: str, code: str) -> list[str]:
    """The codes that `--select CODE` reports."""
    diagnostics = lint_document(Document(path, text), chosen=Selection((code,))).diagnostics
    return [diagnostic.rule.code for diagnostic in diagnostics]


CODES = sorted(registry().rules)


def test_the_scan_finds_every_file() -> None:
    files = {path for path in (Path(__file__).parents[2] / "rules").glob("*/*.py") if path.name != "__init__.py"}
    assert len(module_names()) == len(files)


def test_codes_and_names_are_unique() -> None:
    names = [name for rule in registry().rules.values() for name in (rule.name, *rule.aliases)]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


@pytest.mark.parametrize("code", CODES)
def test_a_rule_says_what_and_why(code: str) -> None:
    text = registry().documentation(code)
    assert re.match(r"\S[^\n]*\.\n", text), "a first line that is one sentence"
    assert "## Why" in text


@pytest.mark.parametrize("code", CODES)
def test_a_bad_example_fires_and_its_fix_mends_it(code: str) -> None:
    for path, text in examples(code, "bad"):
        document = Document(path, text)
        mine = lint_document(document, chosen=Selection((code,))).diagnostics
        assert [diagnostic.rule.code for diagnostic in mine[:1]] == [code], f"{code} is not found in its own bad example:\n{text}"
        for fix in mine[0].fixes:
            changed = apply({path: document}, [fix])[path]
            assert code not in found(path, changed.text, code), f"{fix.title} leaves {code}:\n{changed.text}"


@pytest.mark.parametrize("code", CODES)
def test_a_good_example_is_silent(code: str) -> None:
    for path, text in examples(code, "good"):
        assert code not in found(path, text, code), text
