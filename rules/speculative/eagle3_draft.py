"""An EAGLE-3 draft runs under the algorithm EAGLE.

## Why
An EAGLE-3 draft is fed hidden states of three layers of its target; `EAGLE` hands it those of one. Nothing is refused: the draft
then guesses without knowing, no drafted token is accepted (accept length 1), and serving is slower than without speculation.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
model = { profile = "kimi-k2.5-int4", draft = "kimi-k2.5-eagle3" }

[flags]
speculative-algorithm = "EAGLE"
speculative-draft-model-path = "lightseekorg/kimi-k2.5-eagle3"
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
model = { profile = "kimi-k2.5-int4", draft = "kimi-k2.5-eagle3" }

[flags]
speculative-algorithm = "EAGLE3"
speculative-draft-model-path = "lightseekorg/kimi-k2.5-eagle3"
```

## Fix
Unsafe: the algorithm that the draft was trained for.

## Source
sglang 0.5.9 and 0.5.23 srt/speculative/spec_info.py, srt/models/llama_eagle3.py (the width of what the draft is fed).
"""

from preflight.engines.steps import WARNS, Row, Set, State, Topic

TOPIC = Topic("SPC022", "eagle3-draft-under-eagle", "sglang", "load")


def _trained_for_eagle3(s: State) -> bool:
    architecture = s.draft.known("architecture")
    return "eagle3" in str(s.speculative_draft_model_path if architecture is None else architecture).lower()


ROWS = (
    Row(
        "eagle3-draft",
        WARNS,
        when=lambda s: (
            s.given("speculative-algorithm")
            and s.speculative_algorithm in ("EAGLE", "NEXTN")
            and s.given("speculative-draft-model-path")
            and _trained_for_eagle3(s)
        ),
        versions="0.4.6..",
        says="{speculative_draft_model_path} is an EAGLE-3 draft: under {speculative_algorithm} it is fed too little, and no "
        "token that it drafts is accepted. Use EAGLE3.",
        at="speculative-algorithm",
        fix=(Set("speculative-algorithm", "EAGLE3"),),
        source="srt/speculative/spec_info.py",
        bad="--speculative-algorithm EAGLE --speculative-draft-model-path org/x-eagle3 @ 0.5.9 8x-h200 qwen3-32b",
        good="--speculative-algorithm EAGLE3",
    ),
)
