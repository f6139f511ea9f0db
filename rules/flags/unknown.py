"""A flag that the engine does not have.

## Why
The engine's parser stops at the first word it does not know, before anything else happens: the server does not start. Names
are matched by prefix: `--tp` is `--tp-size`. Underscores are not folded into dashes.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = 8, mem-fraction-statik = 0.8 }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { tp-size = 8, mem-fraction-static = 0.8 }
```

## Fix
Safe where only the dashes were wrong, unsafe where a near name is the likely one.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, SAFE, UNSAFE, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, known_version, problems, renamed, successor_fixes, successor_text
from preflight.rule import rule

META = Rule("FLG001", "unknown-flag", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "unknown"):
        if problem.successor_kind is not None:
            fact = f"{problem.typed} is a flag of another engine, not of {known_version(launch)}."
            yield finding(launch, problem, fact, successor_text(problem), successor_fixes(launch, problem, UNSAFE))
            continue
        near = tuple(one for one in problem.data.get("nearest", ()) if launch.use(one.removeprefix("--")) is None)
        only_dashes = bool(near) and near[0] == "--" + problem.typed.lstrip("-").replace("_", "-")
        remedy = "Remove it." if not near else f"Use {near[0]}." if only_dashes else f"Did you mean {near[0]}?"
        fixes = renamed(launch, problem, near[0], SAFE if only_dashes else UNSAFE) if near else ()
        yield finding(launch, problem, f"{problem.typed} is not a flag of {known_version(launch)}.", remedy, fixes)
