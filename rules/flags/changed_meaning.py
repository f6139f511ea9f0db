"""A stale flag that now means another one.

## Why
A flag that a release no longer has can be the beginning of one that it has. The parser takes the prefix for that flag, and the
launch turns on something else than it says: `--enable-flashinfer` was a switch of early releases and is
`--enable-flashinfer-allreduce-fusion` in later ones.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
flags = { enable-flashinfer = true }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
flags = { attention-backend = "flashinfer" }
```

## Fix
None: which of the two is meant is a judgement.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import STALE
from preflight.rule import rule

META = Rule("FLG013", "flag-with-another-meaning", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for use in launch.uses:
        full = launch.flag(use.name)
        if use.spelling in STALE and full != use.spelling:
            yield Finding(
                f"{use.spelling}, {STALE[use.spelling]}, is taken for {full} here. Write the flag that is meant in full.",
                launch.place(use.name),
                data={"flag": use.spelling, "taken_for": full},
            )
