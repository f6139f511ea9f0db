"""A launch that names no model.

## Why
The model path is the one flag that the server cannot do without. A launch file that gives its model in a table of its own is
not meant.

## Example
```sh bad
# preflight: version=0.5.9
python -m sglang.launch_server --tp-size 8
```
```sh good
# preflight: version=0.5.9
python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp-size 8
```

## Fix
None: which model is meant is not known.

## Source
The releases' own argument code: `--model-path` is required in all of them.
"""

from collections.abc import Iterator

from preflight.diagnostics import ERROR, Finding, Rule
from preflight.engines.base import Launch
from preflight.flags import finding, problems
from preflight.rule import rule

META = Rule("FLG012", "missing-model", ERROR, "arguments")


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for problem in problems(launch, "missing-required"):
        yield finding(launch, problem, f"The launch gives no {problem.typed}, which the server requires.", "Add it.")
