"""Flags of another engine, and flags that come near one that is given already."""

from __future__ import annotations

import pytest

from preflight.lint import lint_document
from preflight.text import Document


def messages(version: str, flags: str) -> list[str]:
    text = f'engine = "sglang"\nengine-version = "{version}"\n[flags]\n{flags}\n'
    return [one.message for one in lint_document(Document("launch.toml", text)).diagnostics if one.rule.code == "FLG001"]


@pytest.mark.parametrize(
    ("version", "remedy"),
    # sglang 0.4.3 has no --reasoning-parser, 0.4.3.post3 has: `launch_server --help` of both
    [("0.4.3", "SGLang has --reasoning-parser for this since 0.4.3.post3. Remove it."), ("0.4.6", "Use --reasoning-parser.")],
)
def test_a_flag_of_vllm_is_told_what_sglang_has_for_it(version: str, remedy: str) -> None:
    (message,) = messages(version, "enable-reasoning = true")
    assert "flag of another engine" in message
    assert message.endswith(remedy)


def test_a_flag_that_is_given_already_is_not_what_another_was_meant_to_be() -> None:
    assert messages("0.5.6", "mem-fraction-swap = 0.15")[0].endswith("Did you mean --mem-fraction-static?")
    assert messages("0.5.6", "mem-fraction-swap = 0.15\nmem-fraction-static = 0.8")[0].endswith("Remove it.")
