"""The release of a log that does not name it, from the settings that it prints: the recorded options of each release's parser."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from preflight.engines.versions import parse_version
from preflight.logs.boot import Boot
from preflight.logs.reader import read_text
from preflight.logs.site import version_of
from tests.logs.writing import sglang

RECORDED = Path(__file__).resolve().parents[1] / "conformance" / "recorded" / "flags"
RELEASES = sorted(path.name.removeprefix("sglang-").removesuffix(".json.gz") for path in RECORDED.glob("sglang-*.json.gz"))
RENAMED = {
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "expert_parallel_size": "ep_size",
}


def fields(release: str) -> set[str]:
    with gzip.open(RECORDED / f"sglang-{release}.json.gz", "rt", encoding="utf-8") as file:
        options = json.load(file)
    return {RENAMED.get(option["dest"], option["dest"]) for option in options}


@pytest.mark.parametrize("release", RELEASES)
def test_a_whole_argument_line_shows_its_release(release: str) -> None:
    lines = sglang(release, settings=dict.fromkeys(sorted(fields(release))))
    (boot,) = read_text("\n".join(lines))
    found = version_of(boot)
    assert found is not None
    oldest, newest, own = (parse_version(text) or () for text in (*found, release))
    assert oldest <= own <= newest
    assert oldest[:3] == newest[:3] or newest <= own


def test_a_cut_line_shows_none() -> None:
    names = dict.fromkeys(sorted(fields("0.5.9")))
    assert version_of(Boot("sglang", 1, settings=names, complete=False)) is None


def test_what_the_log_tells_comes_first() -> None:
    assert version_of(Boot("sglang", 1, version="0.5.8", settings=dict.fromkeys(fields("0.5.9")))) == ("0.5.8", "0.5.8")
