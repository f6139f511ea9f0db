"""SGLang as the linter sees it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

from preflight.engines.base import Engine
from preflight.engines.sglang import attention, graphs, memory, models, plain
from preflight.engines.sglang.defaults import MEMORY_ROWS
from preflight.engines.sglang.deployment import listens, spread
from preflight.engines.sglang.expert_rows import EXPERT_ROWS
from preflight.engines.sglang.flags import parse, releases, spelling
from preflight.engines.sglang.hybrid import HYBRID_ROWS
from preflight.engines.sglang.levers import levers
from preflight.engines.sglang.speculative import SPECULATIVE_ROWS
from preflight.engines.steps import Row, Step, Topic, in_order
from preflight.engines.versions import NOT, Version, applies, parse_version

READ_RELEASES = (
    "0.4.6.post5",
    "0.4.10",
    "0.5.2",
    "0.5.5.post3",
    "0.5.8",
    "0.5.9",
    "0.5.10.post1",
    "0.5.12.post1",
    "0.5.15.post1",
    "0.5.18",
    "0.5.20",
    "0.5.23",
)

STEPS = (
    "parse",
    "early",  # deprecated spellings are rewritten; what is tested before the model is known
    "load-balance-early",  # up to 0.5.12
    "serving",  # multimodal limits, TLS, speech
    "disaggregation",
    "decode-context-parallel",
    "dwdp",
    "graph-config",  # piecewise or breakable prefill graphs, per-phase backends
    "device",
    "gpu-memory",  # chunk, graph sizes, memory fraction
    "model",  # per-architecture overrides
    "sampling",
    "deterministic",
    "attention",  # default backend, then what backends demand
    "mamba",
    "linear-attention",
    "kv-dtype",
    "page-size",
    "grammar",
    "multi-item",
    "hicache",
    "data-parallel",
    "load-balance",
    "context-parallel",
    "kv-shard",
    "moe",
    "a2a",
    "shared-experts",
    "eplb",
    "elastic",
    "pipeline",
    "speculative",
    "a2a-budget",
    "load-format",
    "encoder-disaggregation",
    "tokenizer",
    "environment",
    "cache",
    "unified-memory",
    "dllm",
    "debug",
    "other",
    "capability",  # what the model cannot do, whatever was chosen
    "graph-final",
    "checks",  # check_server_args, before the first process
    "model-config",
    # Later than any argument code, in the order of a boot.
    "init",
    "load",
    "kv-sizing",
    "capture",
)
"""Upstream's order of resolution since 0.5.15, named by its handlers. Source: srt/server_args.py, from 0.5.20 on
srt/arg_groups/pipeline.py."""

_MOVED: tuple[tuple[str, str, str], ...] = (
    # step, the one that it follows, versions
    ("deterministic", "cache", "..0.5.10"),
    ("disaggregation", "load-format", "..0.5.10"),
    ("hicache", "pipeline", "..0.5.2"),
    ("hicache", "model", "0.5.5..0.5.5"),
    ("elastic", "other", "0.5.5..0.5.5"),
    ("device", "gpu-memory", "..0.5.5"),
)
"""Where older releases run a step elsewhere."""

_OWN_ROWS: dict[str, tuple[Row, ...]] = {
    "graph-config": graphs.CONFIG_ROWS,
    "gpu-memory": MEMORY_ROWS,
    "model": (*attention.MODEL_ROWS, *models.ROWS),
    "attention": (*attention.ROWS, *graphs.LATE_ROWS),
    "model-config": HYBRID_ROWS,
    "moe": EXPERT_ROWS,
    "speculative": SPECULATIVE_ROWS,
    "other": plain.ROWS,
}

_Topics = Sequence[tuple[Row, Topic]]
_merged: dict[tuple[int, Version], tuple[_Topics, list[Step]]] = {}


def steps(topics: _Topics, version: Version) -> list[Step]:
    """All rows that hold for a release, in its order. The same `topics` are merged once for each release."""
    key = id(topics), version
    found = _merged.get(key)
    if found is None:
        named: list[tuple[str, Row, Topic | None]] = [(step, row, None) for step, rows in _OWN_ROWS.items() for row in rows]
        named += [(topic.step, row, topic) for row, topic in topics if topic.engine == "sglang"]
        if len(_merged) >= 32:
            _merged.clear()
        found = _merged[key] = (topics, in_order(order(version), named, version, SGLANG.read))
    return found[1]


def order(version: Version) -> list[str]:
    """The steps as a release runs them."""
    names = list(STEPS)
    for step, after, versions in _MOVED:
        if applies(versions, version, SGLANG.read) != NOT:
            names.remove(step)
            names.insert(names.index(after) + 1, step)
    return names


@lru_cache(maxsize=32)
def unread(release: str, topic: str, project: str | None = None) -> bool:
    """Whether a release has mirrored functions in a form that nobody has read. The mirror is opened for others than the
    read releases alone.
    """
    if parse_version(release) in SGLANG.read:
        return False
    from preflight.catalog.review import load_mirror

    return bool(load_mirror("sglang", project).unread(release, topic))


@lru_cache(maxsize=8)
def with_releases_of(project: str) -> Engine:
    """SGLang with the releases that a project added to the flag history."""
    return SGLANG._replace(
        releases=partial(releases, project),
        parse=partial(parse, project=project),
        spelling=partial(spelling, project=project),
        unread=partial(unread, project=project),
    )


def _read() -> tuple[Version, ...]:
    return tuple(version for text in READ_RELEASES if (version := parse_version(text)) is not None)


SGLANG = Engine(
    name="sglang",
    title="SGLang",
    knob=memory.KNOB,
    read=_read(),
    releases=releases,
    parse=parse,
    steps=steps,
    budget=memory.budget,
    spelling=spelling,
    levers=levers,
    spread=spread,
    listens=listens,
    unread=unread,
    pool_sizes=("max-total-tokens",),
    fraction_stage="kv-sizing",
)
