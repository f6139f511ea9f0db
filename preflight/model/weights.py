"""Weight bytes per GPU: the components of a model, sharded as the engine shards them.

Sources: SGLang 0.5.9 and 0.5.23 srt/layers/{linear,vocab_parallel_embedding}.py, srt/layers/moe, srt/models,
srt/distributed/utils.py; vLLM 0.33.0 model_executor/layers, distributed/utils.py.
"""

from typing import NamedTuple

from preflight.model.formats import known, stored_bytes
from preflight.model.types import Component, Model, Parallel

VOCAB_PADDING = 64  # both engines pad vocabulary rows to this before dividing them


class WeightRow(NamedTuple):
    """One line of a weight ledger: bytes on the fullest rank."""

    name: str
    bytes_expected: int
    bytes_floor: int  # checkpoint bytes that arithmetic proves; engine copies and padding are not in it
    rule: str  # how the ranks divide it, in words


def stage_layers(layers: int, stages: int, engine: str = "sglang", partition: tuple[int, ...] = ()) -> tuple[range, ...]:
    """The layer indices of each pipeline stage.

    Both engines hand out the remainder one layer each from the stage before the last backwards; SGLang does so too
    unless SGLANG_PP_LAYER_PARTITION (vLLM: VLLM_PP_LAYER_PARTITION) states the counts.
    """
    counts = list(partition)
    if len(counts) != stages or sum(counts) != layers:
        base, extra = divmod(layers, stages)
        counts = [base] * stages
        order = [*range(stages - 2, -1, -1), stages - 1]
        for stage in order[:extra]:
            counts[stage] += 1
    starts = [sum(counts[:stage]) for stage in range(stages)]
    return tuple(range(start, start + count) for start, count in zip(starts, counts, strict=True))


def weight_rows(model: Model, parallel: Parallel, engine: str = "sglang", part: str = "target") -> tuple[WeightRow, ...] | None:
    """Weight bytes by component on the fullest rank of one engine instance; None where the components are unknown.

    `part` "mtp" gives the prediction layers that are loaded beside the target for speculative decoding.
    """
    if model.components is None or not all(known(component.format) for component in model.components):
        return None
    stages = stage_layers(model.layers, parallel.pp, engine, parallel.layer_partition) if model.layers else (range(0),)
    best: tuple[WeightRow, ...] = ()
    for index, layers in enumerate(stages):
        first, last = index == 0, index == len(stages) - 1
        rows = tuple(
            row
            for component in model.components
            if component.part == part and (not component.engines or engine in component.engines)
            if (row := component_row(component, model, parallel, engine, layers, first, last)) is not None
        )
        if total(rows) > total(best):
            best = rows
    return merged(best)


def total(rows: tuple[WeightRow, ...]) -> int:
    """Expected bytes of all rows."""
    return sum(row.bytes_expected for row in rows)


def merged(rows: tuple[WeightRow, ...]) -> tuple[WeightRow, ...]:
    """Rows of one name and rule added up, in order of first appearance."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        expected, floor = sums.get((row.name, row.rule), (0, 0))
        sums[row.name, row.rule] = (expected + row.bytes_expected, floor + row.bytes_floor)
    return tuple(WeightRow(name, expected, floor, rule) for (name, rule), (expected, floor) in sums.items())


def component_row(
    component: Component, model: Model, parallel: Parallel, engine: str, layers: range, first: bool, last: bool
) -> WeightRow | None:
    """The bytes of one component on a rank of one pipeline stage; None where the stage holds none of it."""
    elements = stage_elements(component, parallel, layers, first, last)
    if not elements:
        return None
    share, of, rule = shard_ratio(component, model, parallel, engine)
    expected = stored_bytes(-(-elements * share // of), component.format, component.row)
    floor = 0 if component.copy else stored_bytes(elements * min(share, of) // of, component.format, component.row)
    return WeightRow(component.name, expected, min(floor, expected), rule)


def stage_elements(component: Component, parallel: Parallel, layers: range, first: bool, last: bool) -> int:
    """Elements of a component on one pipeline stage, before ranks divide it."""
    if component.layers:
        here = sum(1 for layer in component.layers if layer in layers)
        return component.elements * here // len(component.layers)
    if component.tied:
        return component.elements if last and not first else 0
    held = {"first": first, "last": last}.get(component.stage, True)
    return component.elements if held else 0


def shard_ratio(component: Component, model: Model, parallel: Parallel, engine: str) -> tuple[int, int, str]:
    """(numerator, denominator, words): the share of a component that one rank holds."""
    ranks = parallel.attn_tp
    match component.shard:
        case "heads" | "linear":
            return 1, ranks, divided(ranks)
        case "kv-heads":
            heads = component.units or model.kv_heads or ranks
            return max(1, heads // ranks), heads, divided(ranks, heads)
        case "columns":
            ranks = parallel.moe_dense_tp or parallel.tp
            return 1, ranks, divided(ranks)
        case "shared-experts":
            ranks = 1 if parallel.shared_experts_replicated else parallel.tp
            return 1, ranks, divided(ranks)
        case "experts":
            return expert_ratio(component, model, parallel, engine)
        case "embedding":
            return vocab_ratio(component, model, ranks if parallel.attn_dp > 1 else parallel.tp)
        case "head":
            return vocab_ratio(component, model, ranks if parallel.dp_lm_head else parallel.tp)
        case "vision":
            ranks = 1 if parallel.vision_replicated else ranks
            return 1, ranks, divided(ranks)
        case _:
            return 1, 1, "replicated"


def divided(ranks: int, units: int | None = None) -> str:
    """Words for a share of 1/ranks, or of one unit where there are fewer units than ranks."""
    if ranks == 1:
        return "whole"
    if units is not None and units < ranks:
        return f"÷ {units} (replicated ×{ranks // units})"
    return f"÷ {ranks}"


def expert_ratio(component: Component, model: Model, parallel: Parallel, engine: str) -> tuple[int, int, str]:
    """Routed experts: whole experts over `ep` ranks, their intermediate size over the rest."""
    ranks = parallel.tp * (parallel.dp if engine == "vllm" else 1) // parallel.moe_dp
    experts = component.units or model.experts
    if parallel.ep > 1 and experts and parallel.redundant_experts:
        held = -(-(experts + parallel.redundant_experts) // parallel.ep)
        within = max(1, ranks // parallel.ep)
        return held, experts * within, f"{held} of {experts} experts"
    return 1, max(1, ranks), divided(ranks)


def vocab_ratio(component: Component, model: Model, ranks: int) -> tuple[int, int, str]:
    """Vocabulary rows, padded to a multiple of 64 and divided."""
    rows = component.units or model.vocab_size
    if not rows:
        return 1, ranks, divided(ranks)
    padded = -(-rows // VOCAB_PADDING) * VOCAB_PADDING
    return -(-padded // ranks), rows, divided(ranks)
