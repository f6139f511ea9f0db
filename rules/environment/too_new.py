"""An environment variable of a later release.

## Why
A variable that a release does not know yet is ignored without a word: the launch behaves as if it were not set.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_POST_CAPTURE_KV_SIZING = "1" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
env = { SGLANG_ENABLE_POST_CAPTURE_KV_SIZING = "1" }
```

## Source
schemas/flags/sglang-env.json, read from the releases' own source.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.environment import came_later, ignored, strangers
from preflight.rule import rule

META = Rule("ENV003", "too-new-variable", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for variable, _, history in strangers(launch):
        if history is not None and came_later(launch, history):
            yield Finding(
                f"{variable.name} came with {history.added_in}: {ignored(launch)}. Remove it or upgrade.",
                variable.name_place,
                data={"variable": variable.name},
            )
