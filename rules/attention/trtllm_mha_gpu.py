"""trtllm_mha does not run on this GPU.

## What it does
Checks the trtllm_mha backend, for both phases or one, against the GPU and the KV dtype.

## Why
TensorRT-LLM's attention kernels were built for SM100 (B200, B300) first: up to 0.5.9 SGLang refuses them anywhere
else, from 0.5.10 on decode also runs on Hopper and SM120 (RTX PRO 6000, RTX 50), from 0.5.20 on prefill too. On SM120
prefill cannot read an fp8 KV cache, and only SM100 prefill works with context parallelism.

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.5.2 to 0.5.18;
srt/arg_groups/attention_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.sglang.facts import attention_backends, attention_uses, cuda_major
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("ATT002", "trtllm-mha-unsupported-gpu", "sglang", "attention")
_SOURCE = "srt/server_args.py _handle_attention_backend_compatibility"
_MOST = (9, 10, 12)


def _instead(s: State) -> str:
    return "fa3" if cuda_major(s) == 9 else "flashinfer"


def _says(phase: str, on: str) -> str:
    return (
        f"trtllm_mha {phase}needs {on} in this release; this GPU has compute capability "
        "{gpu__compute_capability}. Use fa3 on Hopper, flashinfer elsewhere."
    )


def _prefill(s: State) -> bool:
    return attention_backends(s)[0] == "trtllm_mha"


def _decode(s: State) -> bool:
    return attention_backends(s)[1] == "trtllm_mha"


ROWS = (
    Row(
        "A9",
        REFUSES,
        when=lambda s: attention_uses(s, "trtllm_mha") and cuda_major(s) != 10,
        versions="0.5.2..0.5.9",
        says=_says("", "SM100 (B200, B300)"),
        at="attention-backend",
        fix=(Set("attention-backend", _instead),),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mha @ 0.5.9 8x-h200 llama-3.1-8b",
        good="--attention-backend fa3",
        order=44,
    ),
    Row(
        "A9-prefill",
        REFUSES,
        when=lambda s: _prefill(s) and cuda_major(s) != 10,
        versions="0.5.10..0.5.18",
        says=_says("for prefill ", "SM100 (B200, B300)"),
        at="attention-backend",
        fix=(Set("attention-backend", _instead),),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mha @ 0.5.12.post1 8x-h200 llama-3.1-8b",
        good="--attention-backend fa3",
        order=44,
    ),
    Row(
        "A9-decode",
        REFUSES,
        when=lambda s: _decode(s) and not _prefill(s) and cuda_major(s) not in _MOST,
        versions="0.5.10..",
        says=_says("for decode ", "Hopper, SM100 or SM120"),
        at="decode-attention-backend",
        fix=(Set("decode-attention-backend", "flashinfer"),),
        source=_SOURCE,
        bad="--tp-size 8 --decode-attention-backend trtllm_mha @ 0.5.12.post1 8x-a100-80 llama-3.1-8b",
        good="--decode-attention-backend flashinfer",
        order=44,
    ),
    Row(
        "A9-new",
        REFUSES,
        when=lambda s: _prefill(s) and cuda_major(s) not in _MOST,
        versions="0.5.20..",
        says=_says("", "Hopper, SM100 or SM120"),
        at="attention-backend",
        fix=(Set("attention-backend", _instead),),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mha @ 0.5.23 8x-a100-80 llama-3.1-8b",
        good="--attention-backend flashinfer",
        order=44,
    ),
    Row(
        "A9-fp8",
        REFUSES,
        when=lambda s: _prefill(s) and s.kv_cache_dtype == "fp8_e4m3" and cuda_major(s) == 12,
        versions="0.5.20..",
        says="trtllm_mha prefill on SM120 cannot read an fp8_e4m3 KV cache. Use flashinfer, or kv-cache-dtype auto.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"), Set("attention-backend", "flashinfer")),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mha --kv-cache-dtype fp8_e4m3 @ 0.5.23 8x-rtx-pro-6000-blackwell "
        "llama-3.1-8b",
        good="--kv-cache-dtype auto",
        order=44,
    ),
    Row(
        "A9-cp",
        REFUSES,
        when=lambda s: _prefill(s) and s.attn_cp_size > 1 and cuda_major(s) != 10,
        versions="0.5.20..",
        says="trtllm_mha prefill works with attn-cp-size {attn_cp_size} on SM100 only. Set attn-cp-size to 1, or use another "
        "backend.",
        at="attn-cp-size",
        fix=(Set("attn-cp-size", 1),),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mha --attn-cp-size 2 @ 0.5.23 8x-h200 llama-3.1-8b",
        good="--attn-cp-size 1",
        order=44,
    ),
)
