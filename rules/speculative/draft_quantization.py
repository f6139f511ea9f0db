"""The draft model inherits a weight format that it does not have.

## Why
`--quantization` is taken for the draft model, too, unless `--speculative-draft-model-quantization` says otherwise. A format
that lives in the checkpoint (AWQ, GPTQ, AutoRound, compressed-tensors) cannot be read from a draft that is stored
unquantised, as most EAGLE drafts are: loading it stops.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.12.post1"
model = { profile = "Qwen/Qwen3-32B-AWQ" }

[flags]
quantization = "awq"
speculative-algorithm = "EAGLE3"
speculative-draft-model-path = "my-org/my-eagle3-draft"
```
```toml good
engine = "sglang"
engine-version = "0.5.12.post1"
model = { profile = "Qwen/Qwen3-32B-AWQ" }

[flags]
quantization = "awq"
speculative-algorithm = "EAGLE3"
speculative-draft-model-path = "my-org/my-eagle3-draft"
speculative-draft-model-quantization = "unquant"
```

## Fix
Unsafe: says that the draft is stored unquantised, which is known only of a draft with a profile (an error); else it is
likely (a warning).

## Source
sglang 0.5.9 and 0.5.12.post1 srt/model_loader/weight_utils.py `get_quant_config`;
0.5.9 srt/server_args.py, 0.5.23 srt/arg_groups/speculative_hook.py (the draft's quantization).
"""

from preflight.engines.sglang.facts import algorithm
from preflight.engines.steps import DIES, WARNS, Row, Set, State, Topic

TOPIC = Topic("SPC021", "draft-inherits-quantization", "sglang", "early")
_OF_THE_CHECKPOINT = frozenset(
    {"awq", "awq_marlin", "gptq", "gptq_marlin", "auto-round", "auto_round", "compressed-tensors", "moe_wna16"}
)

_FIX = (Set("speculative-draft-model-quantization", "unquant"),)


def _inherits(s: State) -> bool:
    """Whether a draft model of its own takes the target's format, which its own checkpoint does not declare."""
    return bool(
        algorithm(s) not in (None, "NONE", "NGRAM")
        and s.given("quantization")
        and s.quantization in _OF_THE_CHECKPOINT
        and s.given("speculative-draft-model-path")
        and not s.given("speculative-draft-model-quantization")
        and s.speculative_draft_model_path != s.model_path
        and s.draft.known("quantization") is None
    )


ROWS = (
    Row(
        "S17-format",
        DIES,
        when=lambda s: _inherits(s) and s.draft.known("architecture") is not None,
        versions="0.5.8..",
        says="The draft model inherits quantization {quantization}, and {draft__name} is stored unquantised: loading it stops. "
        "Set speculative-draft-model-quantization unquant.",
        at="quantization",
        fix=_FIX,
        stage="load",
        source="srt/server_args.py, speculative handler; srt/model_loader/weight_utils.py",
    ),
    Row(
        "S17-format",
        WARNS,
        when=lambda s: _inherits(s) and s.draft.known("architecture") is None,
        versions="0.5.8..",
        says="The draft model inherits quantization {quantization}, which a draft stored unquantised does not have. Set "
        "speculative-draft-model-quantization unquant, or leave quantization to the checkpoints.",
        at="quantization",
        fix=_FIX,
        source="srt/server_args.py, speculative handler",
        bad="--quantization awq --speculative-algorithm EAGLE3 --speculative-draft-model-path org/draft @ 0.5.12.post1",
        good="--speculative-draft-model-quantization unquant",
    ),
)
