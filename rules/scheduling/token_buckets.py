"""A rule for metric buckets is malformed.

## What it does
Checks prompt-tokens-buckets and generation-tokens-buckets.

## Why
A rule is `default`, `tse MIDDLE BASE COUNT` (spread around a middle, base above 1) or `custom` with distinct bounds
of 0 or more. SGLang refuses anything else before it starts.

## Source
sglang srt/server_args.py `validate_buckets_rule`, 0.5.2 to 0.5.18; srt/arg_groups/validation_hook.py, 0.5.20 and
0.5.23.
"""

from collections.abc import Sequence

from preflight.engines.steps import REFUSES, UNKNOWN, Row, Set, State, Topic, Unknown

TOPIC = Topic("FLG024", "metric-buckets", "sglang", "checks")


def _wrong(rule: Sequence[str] | None) -> str | None:
    """What is wrong with a rule."""
    if not rule:
        return None
    if any(word is UNKNOWN for word in rule):
        raise Unknown("buckets")
    kind, *words = map(str, rule)
    if kind == "default":
        return "takes nothing after default" if words else None
    if kind == "tse":
        return _wrong_spread(words)
    if kind == "custom":
        return _wrong_bounds(words)
    return f"is none of tse, default, custom: {kind}"


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _wrong_spread(words: Sequence[str]) -> str | None:
    if len(words) != 3:
        return "needs a middle, a base and a count after tse"
    middle, base = _number(words[0]), _number(words[1])
    if middle is None or base is None or not words[2].lstrip("-").isdigit():
        return "needs numbers after tse"
    return None if base > 1 and int(words[2]) > 0 and middle > 0 else "needs a base above 1, and a middle and a count above 0"


def _wrong_bounds(words: Sequence[str]) -> str | None:
    numbers = [_number(word) for word in words]
    if not numbers or None in numbers:
        return "needs numbers after custom"
    known = [number for number in numbers if number is not None]
    return None if len(set(known)) == len(known) and min(known) >= 0 else "needs distinct bounds of 0 or more"


def _row(name: str, setting: str, bad: str | None = None, good: str | None = None) -> Row:
    def wrong(s: State) -> str | None:
        return _wrong(s.get(setting))

    return Row(
        name,
        REFUSES,
        when=lambda s: wrong(s) is not None,
        versions="0.5.2..",
        says=lambda s: f"{setting} {wrong(s)}. Write it as tse MIDDLE BASE COUNT, default, or custom BOUND….",
        at=setting,
        fix=(Set(setting, None),),
        source="srt/server_args.py validate_buckets_rule",
        bad=bad,
        good=good,
    )


ROWS = (
    _row(
        "C8",
        "prompt-tokens-buckets",
        "--prompt-tokens-buckets linear 1 2 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        "--prompt-tokens-buckets custom 1 2",
    ),
    _row("C8-generation", "generation-tokens-buckets"),
)
