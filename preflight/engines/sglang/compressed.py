"""Pools of compressed attention (DeepSeek-V4): bytes per token over six pools, and a fixed pool of request states.

0.5.12 to 0.5.18 srt/model_executor/pool_configurator.py DSV4PoolConfigurator, srt/mem_cache/deepseek_v4_memory_pool.py.
Releases from 0.5.20 on lay the pools out anew and are not covered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.steps import State, Unknown

if TYPE_CHECKING:
    from preflight.model.types import Model

_DEFAULT_REQUESTS = 256
_DEFAULT_RATIO = 0.1
_STATE_BYTES = {"float32": 4, "fp32": 4, "bfloat16": 2, "bf16": 2}


def is_compressed(model: Model) -> bool:
    return any(group.compress_ratio is not None for group in model.attention or ())


def compressed_cell(s: State, model: Model) -> float:
    """Bytes per token of the full length, over the window, both compressed caches, the indexer and the rolling states."""
    _check(s)
    first = (model.attention or ())[0]
    window = next((group.window for group in model.attention or () if group.window), None)
    if first.kv_lora_rank is None or first.qk_rope_head_dim is None or window is None:
        raise Unknown("the geometry of compressed attention")
    nope, rope = first.kv_lora_rank, first.qk_rope_head_dim
    index = next((group.index_head_dim for group in model.attention or () if group.index_head_dim), 0) or 0
    layers = sum(len(group.layers) for group in model.attention or ())
    fourth, far = _layers(model, 4), _layers(model, 128)
    kept, ratio, state = nope + 2 * rope + 8, _ratio(s), _state_bytes(s)
    drafting = algorithm(s) is not None
    rolling = ratio * (16 if drafting else 8) / window
    cell = ratio * kept * layers + kept * fourth / 4 + kept * far / 128
    cell += (index + index // 128 * 4) * fourth / 4
    cell += rolling * 4 * (nope + rope + index) * state * fourth
    if not at_least(s, "0.5.15"):
        cell += ratio * (256 if drafting else 128) / window * 2 * (nope + rope) * state * far
    return cell * (layers + 1) / layers if drafting else cell


def fixed_bytes(s: State, model: Model) -> float:
    """0.5.15 on: the states behind every 128th token, for each request that may run."""
    far = _layers(model, 128)
    if not at_least(s, "0.5.15") or not far:
        return 0.0
    first = (model.attention or ())[0]
    width = (first.kv_lora_rank or 0) + (first.qk_rope_head_dim or 0)
    ring = 256 if algorithm(s) is not None else 128
    requests = int(s.max_running_requests or _DEFAULT_REQUESTS) // max(1, int(s.dp_size or 1))
    slots = requests + 1 + int((s.disaggregation_decode_extra_slots or 0) if s.disaggregation_mode == "decode" else 0)
    rows = -(-(slots * ring + ring + 1) // 128) * 128
    return float(rows * 2 * width * _state_bytes(s) * far)


def _check(s: State) -> None:
    if not at_least(s, "0.5.12") or at_least(s, "0.5.20"):
        raise Unknown("the pools of compressed attention in this release")
    if s.flag("SGLANG_OPT_USE_ONLINE_COMPRESS") or s.enable_hisparse:
        raise Unknown("the pools of online compression")


def _layers(model: Model, ratio: int) -> int:
    return sum(len(group.layers) for group in model.attention or () if group.compress_ratio == ratio)


def _ratio(s: State) -> float:
    given = s.swa_full_tokens_ratio
    return float(given) if given is not None and s.given("swa-full-tokens-ratio") else _DEFAULT_RATIO


def _state_bytes(s: State) -> int:
    name = (s.env("SGLANG_DSV4_COMPRESS_STATE_DTYPE") or "float32").strip().lower()
    size = _STATE_BYTES.get(name)
    if size is None:
        raise Unknown(f"bytes of {name}")
    return size
