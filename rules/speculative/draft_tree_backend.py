"""A draft tree where only a chain is possible.

## What it does
Finds `speculative-eagle-topk` above 1 with an attention backend or a scheduler that verifies chains only.

## Why
The TensorRT-LLM MHA kernels take a chain of draft tokens, not a tree, in the prefill or decode phase alike. In 0.5.8 to
0.5.10 the overlapped worker (`SGLANG_ENABLE_SPEC_V2`) refuses trees as well; from 0.5.12 on it falls back to the
synchronous one.

## Fix
Unsafe: a chain drafts fewer tokens than a tree.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.speculative import eagle, overlap_forced
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("SPC005", "draft-tree-not-supported", "sglang", "speculative")


def _phases(s: State) -> tuple[str | None, ...]:
    return (s.attention_backend, s.decode_attention_backend, s.prefill_attention_backend)


ROWS = (
    Row(
        "S9",
        REFUSES,
        when=lambda s: overlap_forced(s) and (s.speculative_eagle_topk or 1) > 1,
        versions="0.5.8..0.5.10",
        says="SGLANG_ENABLE_SPEC_V2 verifies chains only, but speculative-eagle-topk is {speculative_eagle_topk}. "
        "Use top-k 1, or unset the variable.",
        at="speculative-eagle-topk",
        fix=(Set("speculative-eagle-topk", 1),),
        source="srt/server_args.py",
        order=28,
        bad="--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 4 "
        "--speculative-num-draft-tokens 4 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3 SGLANG_ENABLE_SPEC_V2=1",
        good="--speculative-eagle-topk 1",
    ),
    Row(
        "S6",
        REFUSES,
        when=lambda s: eagle(s) and (s.speculative_eagle_topk or 1) > 1 and "trtllm_mha" in _phases(s),
        versions="0.5.2..",
        says="trtllm_mha verifies chains only, but speculative-eagle-topk is {speculative_eagle_topk}. "
        "Use top-k 1 or another attention backend.",
        at="speculative-eagle-topk",
        fix=(Set("speculative-eagle-topk", 1),),
        source="srt/arg_groups/speculative_hook.py",
        order=46,
        bad="--attention-backend trtllm_mha --speculative-algorithm EAGLE3 --speculative-draft-model-path org/draft "
        "--speculative-num-steps 3 --speculative-eagle-topk 2 --speculative-num-draft-tokens 4 @ 0.5.9 8x-b200 llama-3.1-8b",
        good="--speculative-eagle-topk 1",
    ),
)
