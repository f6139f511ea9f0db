"""A switch that is given a value.

## Why
A switch stands alone: `--trust-remote-code true` is the switch and a stray word, which the parser refuses.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { trust-remote-code = "true" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { trust-remote-code = true }
```

## Fix
Safe where the value is true: the switch alone says it.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, SAFE, Finding, Fix, Rule
from preflight.engines.base import FlagProblem, Launch
from preflight.flags import finding, problems, short
from preflight.rule import rule

META = Rule("FLG009", "switch-with-value", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "unexpected-value", "stray-positional"):
        switch = problem.data.get("switch") if problem.kind == "stray-positional" else problem.typed
        if switch is None:
            continue
        value = problem.data.get("value")
        remedy = "Write the switch alone." if str(value).lower() in ("true", "1") else "Remove the switch and its value."
        yield finding(
            launch,
            problem,
            f"{switch} is a switch and takes no value; {short(value)} is refused.",
            remedy,
            _fixes(launch, problem),
        )


def _fixes(launch: Launch, problem: FlagProblem) -> tuple[Fix, ...]:
    if str(problem.data.get("value")).lower() not in ("true", "1"):
        return ()
    if problem.kind == "stray-positional":
        edit = launch.site.editor.delete(problem.first, problem.first)
    else:
        edit = launch.site.argv[problem.first].replace(problem.typed)
    return () if edit is None else (Fix("Write the switch alone", (edit,), SAFE),)
