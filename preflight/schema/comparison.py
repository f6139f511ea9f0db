"""The JSON of `preflight diff`, as pydantic models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from preflight.schema.outputs import Model, schema_of


class Outlook(Model):
    """What is left for the KV cache, GiB per GPU, and its tokens; null where unknown."""

    rest_gib: float | None
    kv_tokens: int | None
    starts: bool | None
    """Whether one page of tokens is left."""


class Found(Model):
    code: str
    severity: Literal["error", "warning"]
    message: str


class Side(Outlook):
    """A launch of a file, or a boot of a log."""

    path: str
    line: int = Field(ge=0)
    kind: Literal["launch", "log"]
    engine: str
    engine_version: str | None
    """As given, as the log tells, or as its settings show; null where none does."""
    model: str | None
    outcome: Literal["started", "failed", "log ends early", "fails", "to be started"]
    findings: list[Found]


class Value(Model):
    value: Any
    by: str
    """Who set it, in words: a line, the log, an engine default."""


class Setting(Model):
    name: str
    a: Value
    b: Value


class Variable(Model):
    name: str
    a: str | None
    b: str | None


class Effect(Outlook):
    """What one difference makes of A alone; the last entry is all of them together."""

    change: str
    value: Any
    refused: bool
    """Whether the engine would not take it."""


class Amount(Model):
    gib: float
    measured: bool


class Row(Model):
    name: str
    a: Amount | None
    b: Amount | None


class Unseen(Model):
    what: str
    command: str
    """What to run where each of the two was started."""


class DiffOutput(Model):
    """What `preflight diff --format json` prints."""

    schema_version: Literal[1]
    a: Side
    b: Side
    settings: list[Setting]
    b_uses_figures_of_a: bool
    """B has no measured figures of its own, and those of A's boot fit it."""
    other_defaults: int = Field(ge=0)
    """Settings whose defaults differ between the releases, without a change of memory."""
    explained_by: list[str]
    """Differences each of which alone would keep A from starting."""
    environment: list[Variable]
    effects: list[Effect]
    memory: list[Row]
    not_shown: list[Unseen]


def diff_output_schema() -> dict[str, Any]:
    return schema_of(DiffOutput)
