"""Rows that carry examples: `bad` is found by its own rule at its own release, `good` is not, and a fix mends `bad`."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

import pytest

from preflight.diagnostics import Diagnostic
from preflight.engines.resolve import Context
from preflight.engines.steps import Row, Topic
from preflight.fix import apply
from preflight.lint import lint_document
from preflight.registry import registry
from preflight.text import Document, Located

WITH_EXAMPLES = [(row, topic) for row, topic in registry().topics if row.bad is not None]


class Example(NamedTuple):
    """A launch as a shell file, and what surrounds it."""

    document: Document
    context: Context


def launch(text: str) -> Example:
    """An example: `FLAGS @ version hardware model NAME=value…`."""
    flags, _, rest = text.partition(" @ ")
    version, *others = rest.split()
    env = [word for word in others if "=" in word]
    names = [word for word in others if "=" not in word]
    hardware = next((name for name in names if re.match(r"\d+x-", name)), None)
    model = next((name for name in names if name != hardware), None)
    words = shlex.join([*env, "python", "-m", "sglang.launch_server", "--model-path", model or "m/n", *shlex.split(flags)])
    document = Document("launch.sh", f"{words}\n")
    place = document.place(0, 0)
    tables = {
        table: {"profile": Located[object](value, place)}
        for table, value in (("hardware", hardware), ("model", model))
        if value is not None
    }
    return Example(document, Context(tables, Located(version, place)))


def changed(bad: str, good: str) -> str:
    """`good` is `bad` with these flags in place of its own (`--no:page-size` takes one out), or a whole line of its own."""
    if " @ " in good:
        return good
    flags, _, rest = bad.partition(" @ ")
    words = shlex.split(flags)
    for change in _split(shlex.split(good)):
        name = change[0].replace("--no:", "--")
        start = words.index(name) if name in words else len(words)
        end = next((i for i in range(start + 1, len(words)) if words[i].startswith("--")), len(words))
        words[start:end] = [] if change[0].startswith("--no:") else change
    return f"{shlex.join(words)} @ {rest}"


def _split(words: list[str]) -> list[list[str]]:
    flags: list[list[str]] = []
    for word in words:
        if word.startswith("--"):
            flags.append([word])
        else:
            flags[-1].append(word)
    return flags


def found(example: Example) -> list[Diagnostic]:
    return list(lint_document(example.document, example.context).diagnostics)


def of(example: Example, topic: Topic, row: Row) -> list[Diagnostic]:
    return [item for item in found(example) if item.rule.code == topic.code and item.data.get("row") == row.id]


@pytest.mark.parametrize(("row", "topic"), WITH_EXAMPLES, ids=[f"{topic.code}-{row.id}" for row, topic in WITH_EXAMPLES])
def test_a_row_holds_in_its_examples(row: Row, topic: Topic) -> None:
    assert row.bad is not None
    bad = launch(row.bad)
    mine = of(bad, topic, row)
    assert mine, f"{row.id} is silent on {bad.document.text}\n{[item.message for item in found(bad)]}"
    for fix in mine[0].fixes:
        after = bad._replace(document=apply({bad.document.path: bad.document}, [fix])[bad.document.path])
        assert not of(after, topic, row), f"{fix.title} leaves {row.id}: {after.document.text}"
    if row.fix:
        assert mine[0].fixes, f"no fix of {row.id} holds on {bad.document.text}"
    if row.good is not None:
        good = launch(changed(row.bad, row.good))
        assert not of(good, topic, row), f"{row.id} speaks of {good.document.text}"


def test_every_row_of_a_topic_says_something_of_use() -> None:
    for row, topic in registry().topics:
        if row.says is not None and isinstance(row.says, str):
            assert row.says.endswith("."), (topic.code, row.id, row.says)
