"""A flag that this release does not have yet.

## Why
The flag exists, but only from a later release on. The pinned release refuses it as unknown.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
flags = { attn-dp-size = 8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
flags = { tp-size = 8 }
```

## Fix
Safe where this release has the same setting under its older name; otherwise none: another release and another flag are both
remedies.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, SAFE, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems, renamed
from preflight.rule import rule

META = Rule("FLG003", "flag-from-a-newer-version", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "too-new"):
        fact = f"{problem.typed} came with {launch.engine.title} {problem.added}; {launch.version.text} refuses it."
        older = problem.successor[0] if problem.successor_kind == "renamed" and problem.successor else None
        remedy = f"Use {older}." if older else f"Use {launch.engine.title} {problem.added} or later, or remove the flag."
        yield finding(launch, problem, fact, remedy, renamed(launch, problem, older, SAFE) if older else ())
