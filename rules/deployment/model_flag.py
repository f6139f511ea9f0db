"""The model is given as a flag to a command that wants it first.

## What it does
Looks for `vllm serve --model X`.

## Why
`vllm serve` takes the model as its positional argument. The flag is warned about and announced to go; where both are given the
positional one counts and the flag is silently dropped.

## Example
```sh bad
vllm serve --model Qwen/Qwen3-8B --tensor-parallel-size 2
```
```sh good
vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2
```

## Fix
Safe where the flag comes first: only its name is taken out.

## Source
vLLM 0.20.0 and 0.33.0 vllm/utils/argparse_utils.py (`parse_args`).
"""

from collections.abc import Iterator

from preflight.diagnostics import SAFE, WARNING, Finding, Fix, Rule
from preflight.engines.base import FlagUse, Launch
from preflight.rule import rule

META = Rule("FLG051", "model-as-flag", WARNING)


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    entry, use = launch.site.entry, launch.use("model")
    if entry is None or entry.value not in ("vllm serve", "image + vllm serve") or use is None:
        return
    model, first = launch.settings["model"].place, launch.site.argv[0]
    both = use.first > 0 and model is not None and model.key() == first.place.key()
    fact = (
        f"{use.spelling} is dropped: the model named first, {first.text}, counts. Remove it."
        if both
        else f"vllm serve warns of {use.spelling} and will refuse it. Give the model as the first word."
    )
    yield Finding(
        fact,
        launch.site.argv[use.first].place,
        fixes=tuple(_fixes(launch, use)),
    )


def _fixes(launch: Launch, use: FlagUse) -> Iterator[Fix]:
    if use.first != 0 or use.is_bare():
        return
    token = launch.site.argv[0]
    if use.attached:
        edit = token.replace((token.value or "").partition("=")[2]) if token.value else None
    else:
        edit = launch.site.editor.delete(0, 0)
    if edit is not None:
        yield Fix("Give the model as the first word", (edit,), SAFE)
