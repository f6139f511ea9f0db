"""UNO's conditions are not met.

## What it does
Finds UNO launches that SGLang refuses.

## Why
UNO drafts with the target itself and an adapter of its own (`uno-lora-path`), on one GPU, with FlashAttention 3 in both
phases. It takes no draft model, no other adapters and no deterministic mode, and needs `speculative-num-draft-tokens`.
In tree mode (top-k above 1) it needs `speculative-num-steps`, at most 128 nodes, and at most 2,048 nodes times branches.

## Fix
Unsafe: what is missing has to be chosen.

## Source
sglang 0.5.20 and 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, dp_attention
from preflight.engines.steps import REFUSES, Row, State, Topic

TOPIC = Topic("SPC017", "uno-conditions", "sglang", "speculative")


def _fault(s: State) -> str | None:
    if algorithm(s) != "UNO":
        return None
    if s.speculative_draft_model_path is not None:
        return "drafts with the target itself: leave speculative-draft-model-path out"
    if s.uno_lora_path is None:
        return "needs uno-lora-path"
    for flag in ("enable-deterministic-inference", "enable-strict-thinking", "speculative-use-rejection-sampling"):
        if s.get(flag):
            return f"does not work with {flag}: leave it out"
    tokens = s.speculative_num_draft_tokens
    if tokens is None or tokens < 1:
        return "needs speculative-num-draft-tokens, at least 1"
    return _tree_fault(s, tokens) or _server_fault(s)


def _tree_fault(s: State, tokens: int) -> str | None:
    branches, steps = s.speculative_eagle_topk or 1, s.speculative_num_steps
    if branches <= 1:
        return None
    if steps is None or steps < 1:
        return "needs speculative-num-steps for its tree"
    if tokens < steps + 1:
        return f"needs at least {steps + 1} draft tokens for {steps} steps"
    if tokens > 128 or tokens * branches > 2048:
        return f"draws trees of at most 128 nodes and 2,048 nodes times branches; here {tokens} and {tokens * branches:,}"
    return None


def _server_fault(s: State) -> str | None:
    if (s.tp_size, s.pp_size) != (1, 1):
        return "runs on one GPU: set tp-size and pp-size to 1"
    if dp_attention(s) or (s.attn_cp_size or 1) != 1:
        return "does not work with DP attention or context parallelism"
    if s.enable_lora or s.lora_paths:
        return "does not serve other adapters: leave the LoRA flags out"
    backends = (s.prefill_attention_backend or s.attention_backend, s.decode_attention_backend or s.attention_backend)
    return None if backends == ("fa3", "fa3") else "needs the attention backend fa3 in both phases"


ROWS = (
    Row(
        "S22",
        REFUSES,
        when=lambda s: _fault(s) is not None,
        versions="0.5.20..",
        says=lambda s: f"UNO {_fault(s)}.",
        at="speculative-algorithm",
        source="srt/arg_groups/speculative_hook.py",
        order=29,
        bad="--speculative-algorithm UNO --speculative-num-draft-tokens 4 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--uno-lora-path org/adapter --attention-backend fa3",
    ),
)
