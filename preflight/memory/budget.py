"""The memory ledger of one launch, per GPU: the minimum over ranks of each figure, as the engine takes it."""

from __future__ import annotations

from preflight.memory.range import Range
from preflight.records import NamedTuple

BEFORE_LOAD, LOAD, KV_SIZING, LATE = "before-load", "load", "kv-sizing", "late"


class LedgerRow(NamedTuple):
    """One consumer of memory: bytes, when it is taken, and where the figure comes from."""

    name: str
    phase: str
    bytes: Range
    source: str
    of_rest: bool = False
    """Taken out of the rest, beside the KV cache; other rows of the same phase are subtracted before the rest."""


class Knob(NamedTuple):
    """The setting that moves the KV pool: its stable name, this version's flag, and the direction that enlarges the pool.

    `minimum` is the least value with a positive rest and one page of tokens; `suggested` leaves room for what comes late.
    Both are None where they are not known, or where no value would do.
    """

    setting: str
    flag: str
    value: float | None
    minimum: float | None = None
    suggested: float | None = None
    highest: float | None = None
    """The greatest value that leaves the late consumers their room."""
    direction: str = "raise"
    base: str = "the GPU's memory"
    """What the knob is a share of, in words."""


class Condition(NamedTuple):
    """Something that an engine refuses or warns of once its pools are sized, in the engine's words.

    `kind` is one of the constants below. `likely` is decided on what is expected, `proven` on floor and ceil; `fatal` says
    that the engine stops there. `at` names the setting to point at, `value` what it should be, where there is one remedy.
    """

    kind: str
    at: str
    fact: str
    remedy: str
    likely: bool
    proven: bool
    fatal: bool = True
    stage: str = "kv-sizing"
    value: float | None = None
    data: tuple[tuple[str, float], ...] = ()


UNBALANCED, WINDOW_POOL, STATE_POOL, NO_REQUEST, LIMIT, REQUESTS_CUT = (
    "unbalanced-ranks",
    "window-pool",
    "state-pool",
    "no-request",
    "limit-above-pool",
    "requests-cut",
)


class Budget(NamedTuple):
    """Bytes per GPU, None where unknown. `missing` names the inputs that would be needed."""

    knob: Knob
    total: Range | None = None
    free_before_load: Range | None = None
    weights: Range | None = None
    draft_weights: Range | None = None
    free_after_load: Range | None = None
    reserved: Range | None = None
    rest: Range | None = None
    kv_cache: Range | None = None
    graphs: Range | None = None
    rows: tuple[LedgerRow, ...] = ()
    bytes_per_token: float | None = None
    page_tokens: int = 1
    tokens: Range | None = None
    """KV token slots as the engine's log counts them."""
    context_length: int | None = None
    late: Range | None = None
    headroom: Range | None = None
    """What is left for late consumers."""
    window_tokens: int | None = None
    """Slots of the sliding-window layers' own pool."""
    states: int | None = None
    """Slots of the pool of linear layers' states, and the bytes of that pool."""
    state_bytes: float | None = None
    requests: int | None = None
    """Requests that run at once, per worker."""
    conditions: tuple[Condition, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def page_bytes(self) -> float:
        return (self.bytes_per_token or 0) * self.page_tokens

    @property
    def starves(self) -> bool:
        """Expected not to hold one page of tokens."""
        return self.rest is not None and self.rest.expected < max(self.page_bytes, 1)

    @property
    def proven_to_starve(self) -> bool:
        return self.rest is not None and self.rest.ceil < max(self.page_bytes, 1)
