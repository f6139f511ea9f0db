"""The vocabulary does not divide over the ranks.

## Why
The embedding and the output head are padded to a multiple of 64 rows and divided over the tensor-parallel ranks. A size
that does not divide the padded number passes argument code and stops the server when the model is built.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h100-80" }
model = { profile = "Qwen/Qwen3-14B" }
flags = { tp-size = 5 }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { profile = "8x-h100-80" }
model = { profile = "Qwen/Qwen3-14B" }
flags = { tp-size = 4 }
```

## Fix
None: which of the sizes that divide is wanted is a judgement.

## Source
sglang 0.4.6.post5 to 0.5.20 srt/layers/vocab_parallel_embedding.py; 0.5.23 pads to what divides.
"""

from preflight.engines.sglang.sharding import VOCAB_PADDING, vocabulary_misfit
from preflight.engines.steps import DIES, Row, Topic

TOPIC = Topic("PAR020", "vocabulary-does-not-divide", "sglang", "load")

ROWS = (
    Row(
        "vocabulary",
        DIES,
        when=lambda s: s.tp_size > 1 and vocabulary_misfit(s),
        versions="..0.5.20",
        says=lambda s: (
            f"tp-size {s.tp_size} does not divide the vocabulary of {s.model.vocab_size:,} rows, padded to a multiple of "
            f"{VOCAB_PADDING}. Use a size that does, such as a power of two."
        ),
        at="tp-size",
        stage="load",
        source="srt/layers/vocab_parallel_embedding.py",
        bad="--tp-size 5 @ 0.5.9 8x-h100-80 qwen3-32b",
        good="--tp-size 4",
    ),
)
