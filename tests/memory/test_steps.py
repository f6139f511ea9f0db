"""What one step of each knob buys: the figures follow from the launch's own arithmetic."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preflight.explain.data import explain
from preflight.explain.waterfall import waterfall
from preflight.units import GIB
from tests.memory.cases import launch_text, result

KIMI = launch_text(
    "0.5.9",
    'profile = "8x-rtx-pro-6000-blackwell"',
    "kimi-k2.5-int4",
    observed=(94.0, 21.7),
    tp_size=8,
    mem_fraction_static=0.88,
)


def steps(text: str) -> dict[tuple[str, Any], dict[str, Any]]:
    (launch,) = explain([result(text)])["launches"]
    return {(step["setting"], step["value"]): step for step in launch["steps"]}


def test_a_hundredth_of_the_fraction_is_a_hundredth_of_the_free_memory() -> None:
    found = steps(KIMI)
    more, less = found["mem-fraction-static", 0.89], found["mem-fraction-static", 0.87]
    assert more["tokens"] == pytest.approx(0.01 * 94.0 * GIB / 70_272, abs=1)
    assert more["room_gib"] == pytest.approx(-0.94, abs=1e-4)
    assert less["tokens"] == pytest.approx(-more["tokens"], abs=1)


def test_eight_bits_double_the_tokens_and_fewer_requests_shrink_their_table() -> None:
    found = steps(KIMI)
    assert found["kv-cache-dtype", "fp8_e4m3"]["tokens"] == 159_215
    assert found["kv-cache-dtype", "fp8_e4m3"]["pools_gib"] == pytest.approx(0, abs=1e-4)
    table = 1024 * (262_144 + 4) * 4 / GIB
    assert found["max-running-requests", 1024]["room_gib"] == pytest.approx(table, abs=1e-3)


def test_a_smaller_chunk_raises_the_automatic_fraction() -> None:
    text = launch_text("0.5.9", 'profile = "1x-h100-80"', "llama-3.1-8b")
    step = steps(text)["chunked-prefill-size", 4096]
    reserve_mib = 512 + 1.5 * 8192 + 2 * 256 + 128
    smaller = max(512 + 1.5 * 4096 + 2 * 256 + 128, 10_240)
    gained = round((81559 - smaller) / 81559, 3) - round((81559 - reserve_mib) / 81559, 3)
    assert step["tokens"] == pytest.approx(gained * 78.5 * GIB / 131_072, rel=0.01)


def test_the_text_shows_them_and_the_json_is_json() -> None:
    text = waterfall(result(KIMI))
    assert "One step of a knob" in text
    assert "mem-fraction-static 0.89                     +14,363       -0.94 GiB" in text
    assert "Infinity" not in json.dumps(explain([result(KIMI)]))


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert steps('engine = "sglang"\n') == {}
