"""The MLA backend does not read this KV cache dtype.

## What it does
Checks kv-cache-dtype with trtllm_mla, cutedsl_mla and tokenspeed_mla.

## Why
These kernels read the model's own dtype or fp8_e4m3. SGLang refuses fp8_e5m2 and, for trtllm_mla, even the spelling
`bfloat16`: it must be bf16 or auto.

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.5.2 to 0.5.12; srt/arg_groups/overrides.py
`_mla_kv_cache_dtype_checks` and `_cutedsl_prefill_backend_fill`, 0.5.15 to 0.5.23.
"""

from preflight.engines.sglang.facts import at_least, attention_uses, cuda_major
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("ATT004", "mla-backend-kv-dtype", "sglang", "attention")
_SOURCE = "srt/server_args.py _handle_attention_backend_compatibility"


def _decodes(s: State, name: str) -> bool:
    return bool(s.attention_backend == name or s.decode_attention_backend == name)


def _trtllm_reads(s: State) -> tuple[str, ...]:
    if at_least(s, "0.5.23"):
        return ("auto", "fp8_e4m3", "bf16")
    if at_least(s, "0.5.8"):
        return ("auto", "fp8_e4m3", "bf16", "fp4_e2m1")
    return ("auto", "fp8_e4m3", "fp4_e2m1") if at_least(s, "0.5.5") else ("auto", "fp8_e4m3")


ROWS = (
    Row(
        "A8",
        REFUSES,
        when=lambda s: _decodes(s, "trtllm_mla") and s.kv_cache_dtype not in _trtllm_reads(s),
        versions="0.5.2..",
        says=lambda s: (
            f"trtllm_mla does not read a {s.kv_cache_dtype} KV cache. Use {', '.join(_trtllm_reads(s)[:-1])} or "
            f"{_trtllm_reads(s)[-1]}."
        ),
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", lambda s: "bf16" if s.kv_cache_dtype == "bfloat16" and at_least(s, "0.5.8") else "auto"),),
        source=_SOURCE,
        bad="--tp-size 8 --attention-backend trtllm_mla --kv-cache-dtype fp8_e5m2 @ 0.5.9 8x-b200 deepseek-v3",
        good="--kv-cache-dtype fp8_e4m3",
        order=40,
    ),
    Row(
        "A8-tokenspeed",
        REFUSES,
        when=lambda s: _decodes(s, "tokenspeed_mla") and s.kv_cache_dtype != "fp8_e4m3",
        versions="0.5.12..0.5.20",
        says="tokenspeed_mla reads an fp8_e4m3 KV cache only; kv-cache-dtype is {kv_cache_dtype}. Set it to fp8_e4m3.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "fp8_e4m3"),),
        source=_SOURCE,
        order=41,
    ),
    Row(
        "A18",
        REFUSES,
        when=lambda s: attention_uses(s, "cutedsl_mla") and s.kv_cache_dtype not in ("fp8_e4m3", "bf16", "bfloat16", "auto"),
        versions="0.5.15..",
        says="cutedsl_mla does not read a {kv_cache_dtype} KV cache. Use auto, bf16 or fp8_e4m3.",
        at="kv-cache-dtype",
        fix=(Set("kv-cache-dtype", "auto"),),
        source=_SOURCE,
        bad="--tp-size 8 --decode-attention-backend cutedsl_mla --kv-cache-dtype fp8_e5m2 @ 0.5.23 8x-b200 deepseek-v3",
        good="--kv-cache-dtype fp8_e4m3",
        order=42,
    ),
    Row(
        "A18-gpu",
        REFUSES,
        when=lambda s: attention_uses(s, "cutedsl_mla") and cuda_major(s) != 10,
        versions="0.5.15..",
        says="cutedsl_mla needs SM100 (B200, B300); this GPU has compute capability {gpu__compute_capability}. Use fa3 on "
        "Hopper, triton "
        "elsewhere.",
        at="decode-attention-backend",
        fix=(Set("decode-attention-backend", None),),
        source=_SOURCE,
        bad="--tp-size 8 --decode-attention-backend cutedsl_mla @ 0.5.23 8x-h200 deepseek-v3",
        good="--no:decode-attention-backend",
        order=42,
    ),
    Row(
        "A18-prefill",
        REFUSES,
        when=lambda s: s.prefill_attention_backend == "cutedsl_mla",
        versions="0.5.15..",
        says="cutedsl_mla decodes only. Use it as decode-attention-backend, with trtllm_mla for prefill.",
        at="prefill-attention-backend",
        fix=(Set("prefill-attention-backend", "trtllm_mla"),),
        source=_SOURCE,
        bad="--tp-size 8 --prefill-attention-backend cutedsl_mla @ 0.5.23 8x-b200 deepseek-v3",
        good="--prefill-attention-backend trtllm_mla",
        order=42,
    ),
    Row(
        "A18-fill",
        SETS,
        when=lambda s: s.prefill_attention_backend is None and attention_uses(s, "cutedsl_mla"),
        versions="0.5.15..",
        sets="prefill-attention-backend",
        value="trtllm_mla",
        source=_SOURCE,
        order=43,
    ),
)
