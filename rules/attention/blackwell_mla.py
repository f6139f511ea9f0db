"""trtllm_mla runs on Blackwell only.

## What it does
Checks attention-backend and decode-attention-backend trtllm_mla against the GPU.

## Why
TensorRT-LLM's MLA kernels exist for compute capability 10.x to 12.x. SGLang refuses the backend elsewhere; on Hopper
fa3 or flashmla serve the same models. A prefill-attention-backend alone is not tested.

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.5.2 to 0.5.12; srt/arg_groups/overrides.py
`_mla_kv_cache_dtype_checks`, 0.5.15 to 0.5.23.
"""

from preflight.engines.sglang.facts import blackwell, cuda_major
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("ATT001", "trtllm-mla-needs-blackwell", "sglang", "attention")
_SOURCE = "srt/server_args.py _handle_attention_backend_compatibility"


def _chosen(s: State) -> bool:
    return bool(s.attention_backend == "trtllm_mla" or s.decode_attention_backend == "trtllm_mla")


def _where(s: State) -> str:
    return "attention-backend" if s.attention_backend == "trtllm_mla" else "decode-attention-backend"


def _message(s: State) -> str:
    major, minor = s.gpu.compute_capability
    return (
        f"{_where(s)} trtllm_mla needs a Blackwell GPU; this one has compute capability {major}.{minor}. Use fa3 on Hopper, "
        f"triton "
        "elsewhere."
    )


ROWS = (
    Row(
        "A6-old",
        REFUSES,
        when=lambda s: _chosen(s) and cuda_major(s) != 10,
        versions="0.5.2..0.5.2",
        says=_message,
        at="attention-backend",
        fix=(Set("attention-backend", None),),
        source=_SOURCE,
        order=40,
    ),
    Row(
        "A6",
        REFUSES,
        when=lambda s: _chosen(s) and not blackwell(s),
        versions="0.5.5..",
        says=_message,
        at="attention-backend",
        fix=(Set("attention-backend", lambda s: "fa3" if cuda_major(s) == 9 else "triton"),),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mla @ 0.5.9 8x-h200 deepseek-v3",
        good="--attention-backend fa3",
        order=40,
    ),
)
