"""A twenty-line engine: what is not SGLang's must not be in the rules, the resolver or the budget."""

from __future__ import annotations

from preflight.diagnostics import ERROR
from preflight.engines.base import Engine, FlagUse, Launch, Parsing
from preflight.engines.resolve import resolver
from preflight.engines.steps import FILE, REFUSES, SETS, Row, Setting, Step
from preflight.engines.versions import Version
from preflight.launch import LaunchSite
from preflight.memory.budget import Budget, Knob
from preflight.memory.range import exactly
from preflight.readers.launch_file import read
from preflight.registry import registry
from preflight.text import Document
from preflight.units import GIB

ROWS = (
    Row("T1", SETS, when=lambda s: s.cache_share is None, sets="cache-share", value=0.5),
    Row("T2", REFUSES, when=lambda s: s.cache_share > 1, says="cache-share {cache_share} is more than all."),
)


def _parse(site: LaunchSite, release: str) -> Parsing:
    pairs = [(index, site.argv[index].value or "", site.argv[index + 1]) for index in range(0, len(site.argv), 2)]
    uses = tuple(FlagUse(name[2:], name, float(value.value or 0), index, index + 1) for index, name, value in pairs)
    return Parsing({use.name: Setting(use.value, FILE, site.argv[use.last].place, use.spelling) for use in uses}, uses)


def _budget(launch: Launch) -> Budget:
    share = launch.known("cache-share")
    knob = Knob("cache-share", "--cache-share", share, minimum=0.4, suggested=0.6)
    rest = exactly((share - 0.4) * 10 * GIB)
    return Budget(knob, free_before_load=exactly(10 * GIB), weights=exactly(4 * GIB), rest=rest, bytes_per_token=1024)


def _steps(topics: object, version: Version) -> list[Step]:
    return [Step(row, None, True) for row in ROWS]


TOY = Engine(
    name="toy",
    title="Toy",
    knob="cache-share",
    read=((1, 0, 0),),
    releases=lambda: ("1.0.0",),
    parse=_parse,
    steps=_steps,
    budget=_budget,
    spelling=lambda name, version: f"--{name}",
)


def _launch(flags: str) -> Launch:
    (site,) = read(Document("launch.toml", f'engine = "sglang"\nengine-version = "1.0.0"\n[flags]\n{flags}')).sites
    resolved = resolver(site, TOY, ())
    return resolved.at(resolved.versions)


def test_a_rule_speaks_of_the_toys_own_knob_and_mends_it() -> None:
    launch = _launch("cache-share = 0.3  # little\n")
    check = next(check for check in registry().checks if check.rule.code == "MEM001")
    (finding,) = check(launch=launch, budget=_budget(launch))
    assert finding.severity is ERROR
    assert finding.message.startswith("cache-share 0.3 leaves -1.00 GiB for the KV cache: weights take 4.00 GiB of the 10.0 GiB")
    assert "mem-fraction" not in finding.message
    (edit,) = finding.fixes[0].edits
    assert (edit.text, launch.site.document.text[edit.span.start : edit.span.end]) == ("0.6", "0.3")


def test_a_row_sets_what_is_not_given() -> None:
    assert _launch("").settings["cache-share"].value == 0.5
    assert [event.row.id for event in _launch("").trace] == ["T1"]


def test_a_row_refuses_with_the_value_as_written() -> None:
    (event,) = _launch("cache-share = 1.5").trace
    assert event.message == "cache-share 1.5 is more than all."
