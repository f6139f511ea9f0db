"""An environment variable that the engine no longer has.

## Why
Releases retire variables when a flag or another name takes their place, or when what they switched is gone. For a while the
old name warns, then it is ignored without a word, and the launch silently behaves as if it were not set.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
env = { SGLANG_ENABLE_LOGITS_PROCESSER_CHUNK = "1" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
env = { SGLANG_ENABLE_LOGPROB_CHUNK = "1" }
```

## Fix
Unsafe: renames it to its successor, where there is one of the same meaning.

## Source
schemas/flags/sglang-env.json, read from the releases' own source.
"""

from collections.abc import Iterator

from preflight.diagnostics import WARNING, Finding, Rule
from preflight.engines.base import Launch
from preflight.environment import came_later, ignored, renamed, same_unit, strangers
from preflight.rule import rule

META = Rule("ENV002", "removed-variable", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for variable, table, history in strangers(launch):
        if history is None or came_later(launch, history):
            continue
        new = history.replaced_by if history.replaced_by and table.get(history.replaced_by) else None
        remedy = f"Set {new} instead." if new else f"Use {history.flag} instead." if history.flag else "Remove it."
        since = f"since {history.removed_since}" if history.removed_since else f"in {launch.version.text}"
        yield Finding(
            f"{variable.name} is gone {since} and {ignored(launch)}. {remedy}",
            variable.name_place,
            fixes=renamed(variable, new) if new and same_unit(variable.name, new) else (),
            data={"variable": variable.name},
        )
