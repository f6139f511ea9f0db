"""What is said where the machine is not what was declared."""

import re
from pathlib import Path

from preflight.hardware.compare import compare
from preflight.hardware.found import Found, Process, SeenGpu
from preflight.hardware.types import Hardware
from preflight.registry import registry

GIB = 1 << 30
DECLARED = Hardware(count=2, memory=80 * GIB, compute_capability=(9, 0), interconnect="nvlink", cuda="12.8")


def seen(position: int, used: int = 0, total: int = 80 * GIB, **more: object) -> SeenGpu:
    return SeenGpu(position, "NVIDIA H100 80GB HBM3", total, used, total - used)._replace(**more)  # type: ignore[arg-type]


def kinds(found: Found) -> list[str]:
    return [difference.kind for difference in compare(DECLARED, found)]


def test_the_declared_machine_has_no_differences() -> None:
    found = Found((seen(0), seen(1)), driver="570.86.15", interconnect="nvlink")
    assert compare(DECLARED, found) == ()


def test_fewer_gpus() -> None:
    (difference,) = compare(DECLARED, Found((seen(0),)))
    assert (difference.kind, difference.message) == ("fewer-gpus", "2 GPUs are declared, 1 were found.")


def test_leftovers_and_imbalance() -> None:
    held = seen(1, used=20 * GIB, processes=(Process(77, "python", 20 * GIB),))
    differences = compare(DECLARED, Found((seen(0), held)))
    assert [difference.kind for difference in differences] == ["leftovers", "imbalance"]
    assert differences[0].message == "20.0 GiB of GPU 1 are in use by processes 77."
    assert differences[1].gpus == (1, 0)


def test_other_boards() -> None:
    small = seen(1, total=40 * GIB, compute_capability=(8, 0))
    assert kinds(Found((seen(0), small))) == ["other-gpu", "less-memory", "imbalance"]


def test_an_old_driver() -> None:
    assert kinds(Found((seen(0), seen(1)), driver="515.105.01")) == ["driver-too-old"]
    assert kinds(Found((seen(0), seen(1)), driver="unknown")) == []


def test_slices_and_links() -> None:
    found = Found((seen(0, mig=True), seen(1)), interconnect="pcie")
    assert kinds(found) == ["sliced-gpu", "other-links"]


def test_what_is_not_known_is_passed_over() -> None:
    assert compare(Hardware(), Found((SeenGpu(0, "x"),))) == ()


def test_every_kind_of_difference_is_a_documented_rule() -> None:
    source = (Path(__file__).parents[2] / "preflight" / "hardware" / "compare.py").read_text(encoding="utf-8")
    kinds = re.findall(r'return Difference\(\n\s+"([a-z-]+)"', source)
    assert len(kinds) == 8
    assert [rule.code for kind in kinds if (rule := registry().find(kind)) is not None] == [f"OBS{n:03}" for n in range(1, 9)]
