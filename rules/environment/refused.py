"""An environment variable that the engine refuses to start with.

## Why
SGLang 0.5.23 bounds the sampling mask of a disaggregated deployment by the flag of each role and stops where the former
variable is set, to whatever value.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.23"
env = { SGLANG_DISAGGREGATION_SAMPLING_MASK_MAX_TOKENS = "1024" }
```
```toml good
engine = "sglang"
engine-version = "0.5.23"
```

## Source
sglang 0.5.23 srt/arg_groups/validation_hook.py.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.engines.versions import parse_bounds
from preflight.environment import given
from preflight.rule import rule

META = Rule("ENV009", "refused-variable", ERROR, "arguments")
_NAME = "SGLANG_DISAGGREGATION_SAMPLING_MASK_MAX_TOKENS"


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    variable = given(launch, "sglang").get(_NAME)
    if variable is not None and launch.version.known and parse_bounds("0.5.23..").holds(launch.version.version):
        yield Finding(
            f"{launch.engine.title} {launch.version.text} does not start where {_NAME} is set. Remove it, and "
            "give both roles the same --sampling-mask-max-tokens.",
            variable.name_place,
            data={"variable": _NAME},
        )
