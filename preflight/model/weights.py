"""Weight bytes per GPU: the components of a model, sharded as the engine shards them.

Sources: SGLang 0.5.9 and 0.5.23 srt/layers/{linear,vocab_parallel_embedding}.py, srt/layers/moe, srt/models,
srt/distributed/utils.py; vLLM 0.33.0 model_executor/layers, distributed/utils.py.
"""

from preflight.model.formats import known, stored_bytes
from preflight.model.padding import padded_elements
from preflight.model.types import Component, Model, Parallel
from preflight.records import NamedTuple

VOCAB_PADDING = 64  # both engines pad vocabulary rows to this before dividing them


class WeightRow(NamedTuple):
    """One line of a weight ledger: bytes on the fullest rank."""

    name: str
    bytes_expected: int
    bytes_floor: int  # checkpoint bytes that arithmetic proves; engine copies and padding are not in it
    rule: str  # how the ranks divide it, in words


SPLITS = {"sglang": "tail", "vllm": "middle"}


def stage_layers(layers: int, stages: int, split: str = "tail", partition: tuple[int, ...] = ()) -> tuple[range, ...]:
    """The layer indices of each pipeline stage.

    What does not divide goes, one layer each, to the last stages ("tail": SGLang from 0.5.8), all to the last one
    ("last": SGLang to 0.5.5), or one each to the stages before the last, backwards ("middle": vLLM). An engine's
    name means its newest way. `partition` (SGLANG_PP_LAYER_PARTITION, VLLM_PP_LAYER_PARTITION) states the counts.
    """
    split = SPLITS.get(split, split)
    counts = list(partition)
    if len(counts) != stages or sum(counts) != layers:
        base, extra = divmod(layers, stages)
        counts = [base] * stages
        if split == "last":
            counts[-1] += extra
        else:
            order = range(stages - 1, -1, -1) if split == "tail" else [*range(stages - 2, -1, -1), stages - 1]
            for stage in [*order][:extra]:
                counts[stage] += 1
    starts = [sum(counts[:stage]) for stage in range(stages)]
    return tuple(range(start, start + count) for start, count in zip(starts, counts, strict=True))


def weight_rows(
    model: Model,
    parallel: Parallel,
    engine: str = "sglang",
    part: str = "target",
    compute_capability: tuple[int, int] | None = None,
) -> tuple[WeightRow, ...] | None:
    """Weight bytes by component on the fullest rank of one engine instance; None where the components are unknown.

    `part` "mtp" gives the prediction layers that are loaded beside the target for speculative decoding, "buffers"
    the tables that engines make while loading (rotary positions): no weights, but in what loading takes.
    `compute_capability` decides what expert kernels pad; None counts no padding.
    """
    if model.components is None or not all(known(component.format) for component in model.components):
        return None
    split = parallel.layer_split or engine
    stages = stage_layers(model.layers, parallel.pp, split, parallel.layer_partition) if model.layers else (range(0),)
    best: tuple[WeightRow, ...] = ()
    for index, layers in enumerate(stages):
        first, last = index == 0, index == len(stages) - 1
        rows = tuple(
            component_row(component, elements, model, parallel, engine, compute_capability)
            for component in model.components
            if component.part == part and (not component.engines or engine in component.engines)
            if (elements := stage_elements(component, layers, first, last))
        )
        if total(rows) > total(best):
            best = rows
    return merged(best)


ONLINE = {"fp8": "fp8-tensor", "w8a8_fp8": "fp8-channel", "w8a8_int8": "int8-channel", "mxfp8": "mxfp8"}


def quantised_online(model: Model, method: str) -> Model:
    """The model as an engine holds it that quantises an unquantised checkpoint while loading (`--quantization fp8`).

    Linear modules change their format; embedding, head, norms and routers stay. Unchanged where the checkpoint is
    quantised already or the method is no online one.
    """
    format = ONLINE.get(method)
    if format is None or model.quantization is not None or model.components is None:
        return model
    components = tuple(
        part._replace(format=format) if part.row and part.format in ("bf16", "fp16") else part for part in model.components
    )
    return model._replace(components=components, quantization=method)


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
    component: Component,
    elements: int,
    model: Model,
    parallel: Parallel,
    engine: str,
    compute_capability: tuple[int, int] | None,
) -> WeightRow:
    """The bytes of one component on a rank, of the `elements` that its pipeline stage holds."""
    share, of, rule = shard_ratio(component, model, parallel, engine)
    ranks = expert_ranks(parallel, engine) // max(1, parallel.ep)
    held = padded_elements(component, -(-elements * share // of), ranks, engine, compute_capability)
    expected = stored_bytes(held, component.format, component.row)
    floor = 0 if component.copy else stored_bytes(elements * min(share, of) // of, component.format, component.row)
    return WeightRow(component.name, expected, min(floor, expected), rule)


def stage_elements(component: Component, layers: range, first: bool, last: bool) -> int:
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


def expert_ranks(parallel: Parallel, engine: str) -> int:
    """Ranks over which routed experts are spread."""
    return max(1, parallel.tp * (parallel.dp if engine == "vllm" else 1) // parallel.moe_dp)


def expert_ratio(component: Component, model: Model, parallel: Parallel, engine: str) -> tuple[int, int, str]:
    """Routed experts: whole experts over `ep` ranks, their intermediate size over the rest."""
    ranks = expert_ranks(parallel, engine)
    experts = component.units or model.experts
    if parallel.ep > 1 and experts and parallel.redundant_experts:
        held = -(-(experts + parallel.redundant_experts) // parallel.ep)
        within = max(1, ranks // parallel.ep)
        return held, experts * within, f"{held} of {experts} experts"
    return 1, ranks, divided(ranks)


def vocab_ratio(component: Component, model: Model, ranks: int) -> tuple[int, int, str]:
    """Vocabulary rows, padded to a multiple of 64 and divided."""
    rows = component.units or model.vocab_size
    if not rows:
        return 1, ranks, divided(ranks)
    padded = -(-rows // VOCAB_PADDING) * VOCAB_PADDING
    return -(-padded // ranks), rows, divided(ranks)
