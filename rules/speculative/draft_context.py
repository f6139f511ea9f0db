"""The draft model knows fewer positions than the target runs at.

## Why
SGLang loads the draft model with the target's context length. Where the draft's own configuration declares fewer positions, as
many EAGLE-3 drafts do (2,048), loading stops since 0.5.2, unless SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN is set
(up to 0.4.10 it counted as set). The draft then runs
beyond what it declares, which for EAGLE drafts is the usual way.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b", draft = "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B" }

[flags]
speculative-algorithm = "EAGLE3"
speculative-draft-model-path = "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B"
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "1x-h100-80" }
model = { profile = "llama-3.1-8b", draft = "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B" }
env = { SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN = "1" }

[flags]
speculative-algorithm = "EAGLE3"
speculative-draft-model-path = "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B"
```

## Fix
None: the variable and a shorter context-length are both remedies. A warning: test environments of the engine's own are exempt,
by a variable that the launch does not show.

## Source
sglang 0.4.6.post5 to 0.5.23 srt/configs/model_config.py (length of a draft), srt/speculative/eagle_worker.py.
"""

from preflight.engines.sglang.facts import eagle_family
from preflight.engines.steps import WARNS, Row, State, Topic

TOPIC = Topic("SPC020", "draft-context-below-target", "sglang", "load")


def _target(s: State) -> int:
    return int(s.context_length or s.model.context_length)


ROWS = (
    Row(
        "draft-context",
        WARNS,
        when=lambda s: (
            eagle_family(s)
            and s.given("speculative-draft-model-path")
            and s.draft.context_length < _target(s)
            and not s.flag("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN")
            and not s.flag("SGLANG_IS_IN_CI")
        ),
        versions="0.5.2..",
        says=lambda s: (
            f"The draft model declares {s.draft.context_length:,} positions, and the target runs at {_target(s):,}: loading "
            "the draft is refused. Set SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1, or a context-length that the draft allows."
        ),
        at="speculative-draft-model-path",
        source="srt/configs/model_config.py",
    ),
)
