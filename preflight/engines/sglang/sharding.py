"""Whether a model's parts divide over the ranks of a launch: what SGLang asserts while it builds the model.

0.4.6.post5 to 0.5.23: srt/layers/linear.py, vocab_parallel_embedding.py, moe/fused_moe_triton/layer.py,
quantization/fp8.py, awq.py, gptq.py, distributed/utils.py `divide`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from preflight.engines.sglang.facts import TRTLLM_RUNNERS, config_quantization, on_amd, on_cuda, quantization
from preflight.engines.sglang.kv import attention_tp
from preflight.engines.steps import State
from preflight.model.types import Component
from preflight.records import NamedTuple

VOCAB_PADDING = 64
_LEAST_GROUP = 32
_GROUPED = re.compile(r"(?:fp8-block-|int4-g|int8-g)(\d+)")


class Misfit(NamedTuple):
    """A width that a rank would get: not a whole number of quantization groups."""

    name: str
    width: int
    ranks: int
    group: int


def attention_heads_misfit(s: State) -> bool:
    """Query heads must divide by the attention ranks; KV heads must, too, or the ranks by them."""
    if not on_cuda(s):
        return False
    ranks, heads = attention_tp(s), s.model.heads
    if heads % ranks:
        return True
    kv_heads = s.model.known("kv_heads")
    return bool(kv_heads and not s.model.is_mla and kv_heads % ranks and ranks % kv_heads)


def fitting_sizes(s: State, whole: int) -> list[int]:
    """The tensor-parallel sizes up to the next power of two above the present one that divide `whole`."""
    most = min(whole, 1 << max(1, int(s.tp_size)).bit_length())
    return [size for size in range(1, most + 1) if whole % size == 0]


def vocabulary_misfit(s: State) -> bool:
    """The vocabulary is padded to whole 64 rows before it is divided; on CPUs, to what divides."""
    if not (on_cuda(s) or on_amd(s)) or s.enable_dp_attention or (s.attn_dp_size or 1) > 1 or s.enable_dp_lm_head:
        return False
    padded = -(-s.model.vocab_size // VOCAB_PADDING) * VOCAB_PADDING
    return bool(padded % s.tp_size)


def misfits(s: State) -> Iterator[Misfit]:
    """Quantized widths that are no whole number of groups on one rank. Silent where the group of a format is not known, and
    off CUDA, where weights are padded.
    """
    if not on_cuda(s):
        return
    tp, ep = int(s.tp_size), int(s.ep_size or 1)
    if tp == 1 or tp % ep or s.enable_dp_attention or (s.attn_dp_size or 1) > 1:
        return
    expert_ranks = tp // ep
    shared_are_split = s.moe_a2a_backend in (None, "none")
    for component in s.model.components:
        match = _GROUPED.match(component.format)
        if match is None or component.copy:
            continue
        group = int(match[1])
        if component.shard == "experts":
            if s.moe_runner_backend in TRTLLM_RUNNERS:  # they pad the width to whole 128 columns
                continue
            if _falls_back(s):
                group = math.gcd(group, _LEAST_GROUP)
            width, ranks = component.inner or s.model.moe_intermediate_size, expert_ranks
        elif component.shard == "columns" or (component.shard == "shared-experts" and shared_are_split):
            width, ranks = _inner_width(component, s.model.hidden_size), tp
        else:
            continue
        if width is not None and ranks > 1 and (width % ranks or width // ranks % group):
            yield Misfit(component.name, width, ranks, group)


def _falls_back(s: State) -> bool:
    """Whether experts that Marlin cannot read are read by kernels that halve the group until it divides (moe_wna16.py)."""
    return quantization(s) == "moe_wna16" or config_quantization(s) == "awq"


def _inner_width(component: Component, hidden: int) -> int | None:
    """The intermediate size, told by the projection that leads back from it."""
    return component.row if component.row is not None and component.row != hidden else None
