"""Put recorded launches through our own resolution and compare it with what the engine itself said.

    PYTHONPATH=. python -m tests.conformance.replay                              # every recording here
    PYTHONPATH=. python -m tests.conformance.replay FILE… --version 0.5.9 --wrong missed,false,settings --limit 40

A launch goes from its argv straight to the resolver: no file is written or read. Its model is a profile of the
catalogue, or a config.json below PREFLIGHT_MODELS. Refused here means an error of stage `arguments`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from preflight.diagnostics import ERROR, Diagnostic
from preflight.engines.base import Launch
from preflight.engines.registry import find_engine
from preflight.engines.resolve import NO_CONTEXT, Resolver, choose_version
from preflight.engines.sglang.flags import table
from preflight.engines.steps import UNKNOWN
from preflight.hardware.types import Hardware
from preflight.judge import of_finding, of_trace
from preflight.launch import EnvVar, LaunchSite, token
from preflight.model.importing.errors import BadModel
from preflight.model.importing.files import import_model
from preflight.model.types import Model
from preflight.profiles.find import find_gpu, find_model
from preflight.registry import registry
from preflight.text import Document, Edit, Located, Text
from tests.conformance.record import read

HERE = Path(__file__).parent
MIB = 1 << 20

CRASHES: Counter[str] = Counter()
"""Rows whose code failed on a recorded launch."""
NORMALIZED = {
    "cuda_graph_backend": "cuda-graph-backend-decode",
    "prefill_cuda_graph_backend": "cuda-graph-backend-prefill",
    "prefill_cuda_graph_max_bs": "cuda-graph-max-bs-prefill",
    "piecewise_cuda_graph_max_tokens": "cuda-graph-max-bs-prefill",
    "cuda_graph_max_bs": "cuda-graph-max-bs",
    "cuda_graph_bs": "cuda-graph-bs",
}
"""Recorded names that are not a field of the release: the recording keeps them under one name."""


class Comparison(NamedTuple):
    """One launch: what the engine recorded, what we found, and the settings that differ (recorded, ours)."""

    record: dict[str, Any]
    version: str
    errors: tuple[Diagnostic, ...]
    differ: dict[str, tuple[Any, Any]]
    compared: int

    @property
    def refused(self) -> bool:
        return bool(self.errors)

    @property
    def right(self) -> bool:
        return self.refused != bool(self.record["ok"])


class Figures(NamedTuple):
    launches: int
    refused: int
    places: int
    recall: float
    recall_by_place: float
    false_errors: float
    settings: float


def compare(record: dict[str, Any], version: str) -> Comparison:
    launch, found = examine(record, version)
    errors = tuple(item for item in found if item.severity == ERROR and item.stage == "arguments")
    differ: dict[str, tuple[Any, Any]] = {}
    recorded = record.get("settings", record.get("values", {})) if record["ok"] else {}
    for field, value in recorded.items():
        ours = launch.value(setting_of(field, version))
        if not same(value, ours):
            differ[field] = value, ours
    return Comparison(record, version, errors, differ, len(recorded))


def examine(record: dict[str, Any], version: str) -> tuple[Launch, list[Diagnostic]]:
    """The launch as we resolve it for a release, with all that we find in it."""
    resolved = resolver_of(record, version)
    launch = resolved.at(resolved.versions)
    for row, error in launch.crashes:
        CRASHES[f"{row}: {error!r}"] += 1
    checks = (check for check in registry().checks if check.needs == ("launch",))
    by_rules = [of_finding(finding, check.rule, launch) for check in checks for finding in check(launch=launch)]
    return launch, of_trace(launch, resolved, registry()) + by_rules


def resolver_of(record: dict[str, Any], version: str) -> Resolver:
    site = site_of(record["argv"], record["env"], version)
    engine = find_engine("sglang")
    assert engine is not None
    versions, problem = choose_version(site, engine, NO_CONTEXT)
    assert problem is None
    model = model_of(record.get("model") or _value_of(record["argv"], "--model-path", "--model"))
    draft = model_of(_value_of(record["argv"], "--speculative-draft-model-path", "--speculative-draft-model"))
    return Resolver(site, engine, {}, hardware_of(record["gpu"]), model, draft, {}, (), registry().topics, versions)


def site_of(argv: list[str], env: dict[str, str], version: str) -> LaunchSite:
    """A launch as written, one word a line. Nothing can be edited in it."""
    words = ["launch", version, *(text for pair in env.items() for text in pair), *argv]
    document = Document("recorded", "\n".join(words))
    tokens, start = [], 0
    for word in words:
        text = Text.of(document, start, start + len(word))
        assert text is not None
        tokens.append(token(text))
        start += len(word) + 1
    head, number, pairs, flags = tokens[0], tokens[1], tokens[2 : 2 + 2 * len(env)], tokens[2 + 2 * len(env) :]
    variables = tuple(EnvVar(str(name.value), value, name.place) for name, value in zip(pairs[::2], pairs[1::2], strict=True))
    located = Located(version, number.place)
    return LaunchSite(document, "recorded", head.place, "sglang", tuple(flags), True, _NoEditor(), variables, located)


class _NoEditor:
    def insert(self, flag: str, values: Iterable[str]) -> Edit | None:
        return None

    def delete(self, first: int, last: int) -> Edit | None:
        return None


def hardware_of(gpu: dict[str, Any]) -> Hardware:
    known = find_gpu(gpu["name"])
    return Hardware(
        gpu=known.name if known else gpu["name"],
        count=gpu["count"],
        memory=gpu["mib"] * MIB,
        compute_capability=(gpu["cc"][0], gpu["cc"][1]),
        interconnect=known.interconnect if known else None,
        vendor="nvidia",
    )


@lru_cache(maxsize=256)
def model_of(name: str | None) -> Model | None:
    if not name:
        return None
    found = find_model(name)
    if isinstance(found, Model):
        return found
    folder = Path(os.environ.get("PREFLIGHT_MODELS", "../shared/oracle/models")) / name
    try:
        return import_model(str(folder)) if (folder / "config.json").is_file() else None
    except BadModel:
        return None


def _value_of(argv: list[str], *flags: str) -> str | None:
    for index, word in enumerate(argv):
        flag, _, value = word.partition("=")
        if flag in flags:
            return value or (argv[index + 1] if index + 1 < len(argv) else None)
    return None


def setting_of(field: str, version: str) -> str:
    """The stable name of a recorded field."""
    if field in NORMALIZED:
        return NORMALIZED[field]
    return _settings(version).get(field, field.replace("_", "-"))


@lru_cache(maxsize=16)
def _settings(version: str) -> dict[str, str]:
    return {flag.field: flag.setting for flag in table(version).flags() if flag.writes == flag.setting}


def same(recorded: Any, ours: Any) -> bool:
    if ours is UNKNOWN:
        return False
    if recorded in (None, False) and ours in (None, False):
        return True
    if isinstance(recorded, list) and isinstance(ours, list | tuple | set | frozenset):
        return sorted(map(str, recorded)) == sorted(map(str, ours))
    if isinstance(recorded, float | int) and isinstance(ours, float | int):
        return abs(recorded - ours) <= 5e-7 * max(1.0, abs(recorded))
    return bool(recorded == ours or str(recorded) == str(ours))


def figures(rows: list[Comparison]) -> Figures:
    refused = [row for row in rows if not row.record["ok"]]
    accepted = [row for row in rows if row.record["ok"]]
    places: dict[str, list[bool]] = defaultdict(list)
    for row in refused:
        places[row.record["where"]].append(row.refused)
    compared = sum(row.compared for row in accepted)
    return Figures(
        len(rows),
        len(refused),
        len(places),
        _share(sum(row.refused for row in refused), len(refused)),
        _share(sum(sum(hits) / len(hits) for hits in places.values()), len(places)),
        _share(sum(row.refused for row in accepted), len(accepted), 0.0),
        _share(compared - sum(len(row.differ) for row in accepted), compared),
    )


def _share(part: float, whole: int, empty: float = 1.0) -> float:
    return part / whole if whole else empty


def recordings(paths: Iterable[Path]) -> Iterator[tuple[dict[str, Any], str]]:
    """Launches with their release: from the file's name, or their own `version`."""
    for path in paths:
        named = path.name.removeprefix("sglang-").removesuffix(".gz").removesuffix(".jsonl")
        for record in read(path):
            yield record, record.get("version", named)


def table_of(by_version: dict[str, list[Comparison]]) -> str:
    lines = [
        f"{'version':14}{'launches':>9}{'refused':>8}{'places':>7}{'recall':>8}{'by place':>9}{'false':>7}{'settings':>9}",
    ]
    for version, rows in sorted(by_version.items(), key=lambda item: [int(n) for n in item[0].replace("post", "").split(".")]):
        got = figures(rows)
        lines.append(
            f"{version:14}{got.launches:>9}{got.refused:>8}{got.places:>7}{got.recall:>8.1%}{got.recall_by_place:>9.1%}"
            f"{got.false_errors:>7.1%}{got.settings:>9.2%}"
        )
    return "\n".join(lines)


def worst(rows: list[Comparison], limit: int, of: str) -> Iterator[str]:
    """Where most is wrong: places never found, rows with false errors, settings that differ."""
    if "missed" in of:
        missed = Counter(
            f"{row.record['where']} [{row.record['row']}]" for row in rows if not row.record["ok"] and not row.refused
        )
        yield from (f"missed {count:4} {name}" for name, count in missed.most_common(limit))
    if "false" in of:
        false = Counter(f"{item.data.get('row')} {item.rule.code}" for row in rows if row.record["ok"] for item in row.errors[:1])
        yield from (f"false  {count:4} {name}" for name, count in false.most_common(limit))
    if "settings" in of:
        differ = Counter(
            f"{name}: {theirs!s:.40} here {ours!s:.40}" for row in rows for name, (theirs, ours) in row.differ.items()
        )
        yield from (f"differ {count:4} {name}" for name, count in differ.most_common(limit))


def examples(rows: list[Comparison], limit: int, grep: str) -> Iterator[str]:
    """Single launches that came out wrong, as JSON without what is the same everywhere."""
    shown = 0
    for row in rows:
        record = row.record
        text = " ".join(record["argv"])
        about = (
            f"{row.version} {record['row']} {record.get('where')} "
            f"{sorted(row.differ)} {[item.data.get('row') for item in row.errors]}"
        )
        if (row.right and not row.differ) or grep not in about + " " + text or shown >= limit:
            continue
        shown += 1
        gpu = f"{record['gpu']['count']}x {record['gpu']['name']}"
        errors = [f"{item.rule.code}/{item.data.get('row')}: {item.message}" for item in row.errors]
        yield json.dumps(
            {"at": about, "argv": text, "env": record["env"], "gpu": gpu, "differ": row.differ, "errors": errors}, default=str
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--rows", default="", help="only launches made for these rows, by comma")
    parser.add_argument("--wrong", default="missed,false,settings")
    parser.add_argument("--limit", type=int, default=25)
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--grep", default="")
    options = parser.parse_args()
    paths = options.paths or sorted((HERE / "recorded").glob("*.jsonl.gz"))
    wanted = set(filter(None, options.rows.split(",")))
    by_version: dict[str, list[Comparison]] = defaultdict(list)
    for record, version in recordings(paths):
        if options.version in ("", version) and (not wanted or record["row"].rstrip("!=?") in wanted):
            by_version[version].append(compare(record, version))
    print(table_of(by_version))
    sys.stdout.writelines(f"crash  {count:4} {what}\n" for what, count in CRASHES.most_common())
    everything = [row for rows in by_version.values() for row in rows]
    sys.stdout.writelines(f"{line}\n" for line in worst(everything, options.limit, options.wrong))
    sys.stdout.writelines(f"{line}\n" for line in examples(everything, options.examples, options.grep))


if __name__ == "__main__":
    main()
