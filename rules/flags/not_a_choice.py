"""A value that the flag does not offer.

## Why
Many flags take one of a fixed list. The list changes between releases: a value that was offered may be gone or renamed.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
flags = { attention-backend = "cutlass_mla" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
flags = { attention-backend = "flashinfer" }
```

## Fix
Unsafe where one choice is near the value that was written.

## Source
schemas/flags/sglang.json, read from the releases' own argument code.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, UNSAFE, Finding, Fix, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems, quoted, short
from preflight.rule import rule

META = Rule("FLG007", "value-not-a-choice", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "not-a-choice"):
        choices = [str(choice) for choice in problem.data.get("choices", ()) if choice is not None]
        value = str(problem.data.get("value"))
        near = _near(value, choices)
        fact = f"{problem.typed} does not offer {short(value)} in {launch.engine.title} {launch.version.text}."
        remedy = f"Use {near}." if near else f"Use one of: {quoted(choices)}."
        edit = launch.site.argv[problem.first].replace(near) if near and launch.site.argv[problem.first].value == value else None
        fixes = (Fix(f"Set it to {near}", (edit,), UNSAFE),) if edit is not None else ()
        yield finding(launch, problem, fact, remedy, fixes)


def _near(value: str, choices: list[str]) -> str | None:
    from difflib import get_close_matches

    near = get_close_matches(value.lower(), choices, 1, 0.8)
    return near[0] if near else None
