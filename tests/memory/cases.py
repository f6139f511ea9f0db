"""Launches and half-resolved states for the tests of the memory ledger."""

from __future__ import annotations

from typing import Any

from preflight.engines.sglang.memory import state_of
from preflight.engines.steps import FILE, Setting, State
from preflight.engines.versions import parse_version
from preflight.hardware.types import Hardware
from preflight.lint import FileResult, Resolved, lint_document
from preflight.memory.budget import Budget
from preflight.model.types import LayerGroup, Model
from preflight.text import Document


def result(text: str) -> FileResult:
    found = lint_document(Document("launch.toml", text))
    assert not found.internal_errors
    return found


def resolved(text: str) -> Resolved:
    (launch,) = result(text).launches
    return launch


def budget(text: str) -> Budget:
    return resolved(text).budget


def launch_text(version: str, hardware: str, model: str, *, observed: tuple[float, float] | None = None, **flags: Any) -> str:
    """A launch.toml; `hardware` is an inline table's content."""
    lines = [
        f'engine = "sglang"\nengine-version = "{version}"',
        f"hardware = {{ {hardware} }}",
        f'model = {{ profile = "{model}" }}',
    ]
    if observed is not None:
        lines.append(f'observed = {{ free-before-load = "{observed[0]} GiB", free-after-load = "{observed[1]} GiB" }}')
    lines.append("[flags]")
    lines += [f"{name.replace('_', '-')} = {_toml(value)}" for name, value in flags.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def fraction(text: str) -> float:
    value = state_of(resolved(text).launch).mem_fraction_static
    assert isinstance(value, float)
    return value


def state(version: str, model: Model, hardware: Hardware | None = None, **settings: Any) -> State:
    number = parse_version(version)
    assert number is not None
    values = {"tp-size": 1, "pp-size": 1, "dp-size": 1, **{name.replace("_", "-"): value for name, value in settings.items()}}
    given = {name: Setting(value, FILE) for name, value in values.items()}
    return State(given, version=number, hardware=hardware, model=model)


def mib(card: int, capability: str) -> str:
    return f'memory = "{card} MiB", compute-capability = "{capability}", count = 8'


def gqa(layers: range | tuple[int, ...], heads: int, dim: int, kind: str = "gqa", window: int | None = None) -> LayerGroup:
    return LayerGroup(kind, tuple(layers), kv_heads=heads, head_dim=dim, v_head_dim=dim, window=window)


GPT_OSS_20B = Model(
    "gpt-oss-20b",
    architecture="GptOssForCausalLM",
    layers=24,
    dtype="bf16",
    attention=(gqa(tuple(range(1, 24, 2)), 8, 64), gqa(tuple(range(0, 24, 2)), 8, 64, "sliding", 128)),
)
QWEN3_NEXT = Model(
    "qwen3-next-80b-a3b",
    architecture="Qwen3NextForCausalLM",
    layers=48,
    dtype="bf16",
    attention=(
        gqa(tuple(layer for layer in range(48) if layer % 4 == 3), 2, 256),
        LayerGroup(
            "linear",
            tuple(layer for layer in range(48) if layer % 4 != 3),
            linear="gdn",
            linear_k_heads=16,
            linear_v_heads=32,
            linear_k_dim=128,
            linear_v_dim=128,
            conv_kernel=4,
        ),
    ),
)
DEEPSEEK_V32 = Model(
    "deepseek-v3.2",
    architecture="DeepseekV32ForCausalLM",
    layers=61,
    dtype="bf16",
    mtp_layers=1,
    attention=(LayerGroup("mla", tuple(range(61)), kv_lora_rank=512, qk_rope_head_dim=64, index_head_dim=128),),
)
DEEPSEEK_V3 = DEEPSEEK_V32._replace(
    name="deepseek-v3",
    architecture="DeepseekV3ForCausalLM",
    attention=(LayerGroup("mla", tuple(range(61)), kv_lora_rank=512, qk_rope_head_dim=64),),
)
HOPPER = Hardware(gpu="h100-80", count=8, memory=81559 << 20, compute_capability=(9, 0), vendor="nvidia")
