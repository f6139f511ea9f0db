"""Settings differ from the boot that worked, without a change of memory.

## What it does
Lists them in one note: settings that the launch or the baseline's log names, with other values.

## Why
Memory is not all that can break. A backend, a quantization kernel or a switch that was added since the boot that worked is
where to look when memory is the same and the server is not.

## Example
The log of the baseline shows `attention_backend='flashinfer'`; the launch says `attention-backend = "triton"`.

## Fix
None: which of the two is right is not known.

## Source
preflight's own documentation.
"""

from collections.abc import Iterator

from preflight.diagnostics import NOTE, Finding, Related, Rule
from preflight.engines.base import Launch
from preflight.rule import rule

META = Rule("DRF003", "other-drift", NOTE)
_MOST = 8


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    log = launch.tables.get("baseline", {}).get("log")
    if log is None:
        return
    from preflight.drift.baseline import Drift, drift
    from preflight.drift.render import shown

    found = drift(launch)
    if not isinstance(found, Drift) or not found.others:
        return
    listed = [f"{one.name} {shown(one.a)} → {shown(one.b)}" for one in found.others]
    more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
    related = tuple(Related(launch.place(one.name), one.name) for one in found.others if launch.place(one.name) != launch.head)
    yield Finding(
        f"Since the boot of {log.value} {len(listed)} settings changed without moving memory: {', '.join(listed[:_MOST])}{more}. "
        "Look here when it worked then and does not now; `preflight diff` shows all.",
        log.place,
        related=related,
        data={"settings": [one.name for one in found.others]},
    )
