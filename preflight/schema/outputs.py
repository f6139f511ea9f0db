"""The JSON that preflight prints, as pydantic models: what each figure is, in which unit, and when it is null."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from preflight.schema.inputs import DIALECT

Stage = Literal["arguments", "init", "load", "kv-sizing", "capture", "serving"]
Origin = Literal["file", "inline-default", "engine-default", "model-override", "profile", "project", "observed", "unknown"]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Position(Model):
    line: int = Field(ge=1)
    """From 1."""
    column: int = Field(ge=1)
    """From 1, in Unicode code points."""


class Range(Model):
    start: Position
    end: Position
    """Exclusive."""


class Edit(Model):
    """Replace the range by the text. An insertion has an empty range, a deletion an empty text."""

    path: str
    range: Range
    new_text: str


class Fix(Model):
    """All edits are applied, or none."""

    title: str
    """In the imperative: what the fix does."""
    applicability: Literal["safe", "unsafe", "display"]
    """safe: the launch means the same, or fails for certain and has one remedy. unsafe: a judgement. display: shown, never
    applied."""
    edits: list[Edit]


class Related(Model):
    message: str
    path: str
    range: Range


class Diagnostic(Model):
    code: str = Field(pattern=r"^[A-Z]+\d+$")
    rule: str
    """The name of the rule."""
    severity: Literal["error", "warning", "note"]
    stage: Stage | None
    """When the launch would fail; null where nothing fails."""
    message: str
    path: str
    """As given on the command line."""
    range: Range
    """A flag from its name to its value; of an absent flag the head of the launch."""
    related: list[Related]
    data: dict[str, Any]
    """The figures of the message. Their names differ from rule to rule."""
    url: str | None
    fixes: list[Fix]


class Summary(Model):
    files: int = Field(ge=0)
    launches: int = Field(ge=0)
    errors: int = Field(ge=0)
    warnings: int = Field(ge=0)
    notes: int = Field(ge=0)
    fixable: int = Field(ge=0)
    """Diagnostics with a fix that can be applied."""


class LintOutput(Model):
    """What `preflight lint --format json` prints."""

    schema_version: Literal[1]
    summary: Summary
    diagnostics: list[Diagnostic]


class Figure(Model):
    """A figure with its bounds: floor <= low <= expected <= high <= ceil."""

    low: float
    """low to high is the band that holds 90 % of boots."""
    expected: float
    high: float
    floor: float | None
    """What arithmetic or a measurement proves; errors are decided on floor and ceil alone. null where nothing proves it."""
    ceil: float | None


class Hardware(Model):
    gpu: str | None
    count: int | None
    """GPUs per node."""
    nodes: int | None
    memory_gib: float | None
    """Total of one GPU as nvidia-smi reports it."""
    interconnect: Literal["nvlink", "nvlink-pairs", "pcie", "unified"] | None


class ModelNames(Model):
    profile: str | None
    draft: str | None = None


class Setting(Model):
    value: Any
    """null where it is unknown, or where the engine's own value is none."""
    origin: Origin
    flag: str
    """How this version spells it, without dashes."""
    by: str | None = None
    """The row of the engine's logic that set it."""


class Memory(Model):
    """GiB per GPU, the minimum over ranks as the engine takes it; null where unknown."""

    total: Figure | None
    free_before_load: Figure | None
    weights: Figure | None
    """What the engine's log calls memory usage of loading."""
    draft_weights: Figure | None
    free_after_load: Figure | None
    """free_before_load - weights, and - draft_weights where this version counts them."""
    reserved: Figure | None
    """What the memory fraction keeps back."""
    rest: Figure | None
    """What is left for the KV cache; negative where the launch fails."""
    kv_cache: Figure | None
    """0 where the launch fails."""
    graphs: Figure | None


class LedgerRow(Model):
    name: str
    phase: Literal["before-load", "load", "kv-sizing", "late"]
    gib: Figure | None
    source: str
    """Where the figure comes from: a formula with version and file, a profile, or an observation."""


class Kv(Model):
    bytes_per_token: float | None
    tokens: Figure | None
    """What the engine's log prints as the size of the KV cache."""


class StaticFraction(Model):
    flag: str
    """The knob that moves the KV pool."""
    value: float | None
    minimum: float | None
    """The least value with a positive rest and one page of tokens."""
    suggested: float | None
    """null where it would be below the minimum."""


class Capacity(Model):
    context_length: int | None
    full_context_requests: float | None
    """Requests of the full context that fit at once."""


class Step(Model):
    """What one step of a knob changes, by resolving the launch again."""

    setting: str
    value: Any
    """The value that is one step away."""
    tokens: float | None
    """Change of the expected tokens."""
    pools_gib: float | None
    """Change of the bytes of KV cache and states, GiB per GPU."""
    room_gib: float | None
    """Change of what late consumers leave of what is kept back for them."""


class Measured(Model):
    """A figure of [observed] beside what is predicted without it."""

    name: str
    unit: Literal["GiB", "tokens"]
    measured: Figure | None
    predicted: Figure | None
    given_load: Figure | None
    """What follows for the pool once free memory before and after loading is measured."""


class Launch(Model):
    path: str
    line: int = Field(ge=1)
    name: str | None = None
    engine: str
    engine_version: str | None
    """As given; null where the file and the project do not say."""
    judged_as: str | None = None
    """The release whose logic was applied."""
    hardware: Hardware
    model: ModelNames
    flags: dict[str, Setting]
    """Every resolved setting, under one name for all versions."""
    memory: Memory
    rows: list[LedgerRow]
    kv: Kv
    static_fraction: StaticFraction
    capacity: Capacity
    steps: list[Step] = []
    """What one step of each knob buys; a step that changes nothing, or that the engine refuses, is left out."""
    measured: list[Measured] = []
    missing: list[str] = []
    """What would have to be known for the figures that are null."""
    verdict: Literal["fails", "uncertain", "unknown", "fits"]


class ExplainOutput(Model):
    """What `preflight explain --format json` prints."""

    schema_version: Literal[1]
    launches: list[Launch]


def lint_output_schema() -> dict[str, Any]:
    return schema_of(LintOutput)


def explain_output_schema() -> dict[str, Any]:
    return schema_of(ExplainOutput)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return {"$schema": DIALECT, **_plain(model.model_json_schema())}


def _plain(node: Any, *, names: bool = False) -> Any:
    """Without the titles that pydantic makes of names, and with descriptions on one line. `names`: the keys are names."""
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    plain: dict[str, Any] = {}
    for key, value in node.items():
        if not names and key == "title" and isinstance(value, str):
            continue
        if not names and key == "description" and isinstance(value, str):
            plain[key] = " ".join(value.split())
            continue
        plain[key] = _plain(value, names=not names and key in ("properties", "$defs"))
    return plain
