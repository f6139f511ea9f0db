"""A decode server drops the radix cache.

## What it does
Says that `disaggregation-mode decode` turns the radix cache off, and finds decode radix caches that SGLang refuses.

## Why
A decode server receives the KV cache of a whole prompt from the prefill server, so a prefix cache of its own saves nothing
unless the transfer knows about it. Since 0.5.12 `disaggregation-decode-enable-radix-cache` keeps it, as an experiment, with
transfer backends and algorithms that can.

## Fix
Safe to write out what happens.

## Source
sglang 0.4.6.post5 to 0.5.18 srt/server_args.py; 0.5.23 srt/arg_groups/pd_disaggregation_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR040", "decode-drops-radix-cache", "sglang", "disaggregation")

_SOURCE = "srt/arg_groups/pd_disaggregation_hook.py"
_FLAG = "disaggregation-decode-enable-radix-cache"


def _kept(s: State) -> bool:
    return bool(s.disaggregation_decode_enable_radix_cache)


def _fault(s: State) -> str | None:
    if s.disaggregation_mode != "decode" or not _kept(s):
        return None
    if s.enable_hisparse:
        return "enable-hisparse"
    backend = s.disaggregation_transfer_backend
    if (at_least(s, "0.5.15") and backend == "fake") or (not at_least(s, "0.5.15") and backend not in ("nixl", "mooncake")):
        return f"the transfer backend {backend}"
    return None


def _speculates(s: State) -> bool:
    if s.disaggregation_mode != "decode" or not _kept(s):
        return False
    allowed = (None, "DSPARK", "EAGLE", "EAGLE3") if at_least(s, "0.5.23") else (None,)
    return algorithm(s) not in allowed


ROWS = (
    Row(
        "D1",
        SETS,
        when=lambda s: s.disaggregation_mode == "decode" and not _kept(s),
        sets="disable-radix-cache",
        value=True,
        says="A decode server runs without the radix cache. Add disable-radix-cache to say so, or "
        f"{_FLAG} where the release has it.",
        fix=(Set("disable-radix-cache", True),),
        source=_SOURCE,
        order=30,
        bad="--disaggregation-mode decode @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--disable-radix-cache",
    ),
    Row(
        "D1",
        SETS,
        when=lambda s: s.disaggregation_mode == "decode" and _kept(s),
        versions="0.5.12..",
        sets="disable-radix-cache",
        value=False,
        says=f"{_FLAG} keeps the radix cache, against disable-radix-cache. Leave one of the two out.",
        fix=(Set("disable-radix-cache", None),),
        source=_SOURCE,
        order=31,
    ),
    Row(
        "D9",
        REFUSES,
        when=lambda s: _fault(s) is not None,
        versions="0.5.12..",
        says=lambda s: f"{_FLAG} does not work with {_fault(s)}. Leave it out.",
        at=_FLAG,
        fix=(Set(_FLAG, None),),
        source=_SOURCE,
        order=20,
    ),
    Row(
        "S28",
        REFUSES,
        when=_speculates,
        versions="0.5.12..",
        says=f"{_FLAG} does not work with {{speculative_algorithm}} speculation. Leave one of the two out.",
        at=_FLAG,
        fix=(Set(_FLAG, None),),
        source="srt/arg_groups/speculative_hook.py",
        step="speculative",
        order=11,
    ),
)
