"""What a boot measured beside what is predicted without it."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.engines.base import Launch, Observed
from preflight.memory.budget import Budget
from preflight.memory.range import Range, exactly
from preflight.records import NamedTuple


class Measured(NamedTuple):
    """One row: bytes, or tokens. `predicted` is what the file says without its [observed]; `given_load` what follows for the
    pool once the free memory before and after loading is measured."""

    name: str
    key: str
    measured: Range
    predicted: Range | None
    given_load: Range | None = None

    @property
    def error(self) -> float | None:
        """Of the prediction, as a share of the measurement."""
        best = self.given_load or self.predicted
        if best is None or self.measured.expected <= 0:
            return None
        return best.expected / self.measured.expected - 1


def measured_rows(launch: Launch, budget: Budget) -> list[Measured]:
    """In the order of the ledger; nothing where the launch has no measured figures."""
    if not launch.tables.get("observed"):
        return []
    return list(_rows(launch, budget))


def _rows(launch: Launch, budget: Budget) -> Iterator[Measured]:
    seen = launch.observed
    cold = launch.engine.budget(launch._replace(observed=Observed(), tables={**launch.tables, "observed": {}}))
    loaded = seen.free_before_load is not None and seen.free_after_load is not None
    for name, key, value, predicted in (
        ("free before loading", "free_before_load", seen.free_before_load, cold.free_before_load),
        ("weights", "weights", seen.weights, cold.weights),
        ("draft weights", "draft_weights", seen.draft_weights, cold.draft_weights),
        ("free after loading", "free_after_load", seen.free_after_load, cold.free_after_load),
    ):
        if value is not None:
            yield Measured(name, key, value, predicted)
    if seen.kv_cache is not None:
        yield Measured("KV cache", "kv_cache", seen.kv_cache, cold.kv_cache, budget.kv_cache if loaded else None)
    if seen.graphs is not None:
        yield Measured("CUDA graphs", "graphs", seen.graphs, cold.graphs)
    if seen.kv_tokens is not None:
        yield Measured("KV tokens", "kv_tokens", exactly(seen.kv_tokens), cold.tokens, budget.tokens if loaded else None)
