"""The linear-attention kernels do not fit.

## What it does
Finds `linear-attn-decode-backend` and ReplaySSM flags that SGLang refuses.

## Why
FlashKDA has prefill kernels only. On SM100 and later FlashInfer's decode kernel keeps states in bfloat16 and refuses any other
`mamba-ssm-dtype`. ReplaySSM buffers updates for one kind of kernel and one kind of cache, and its two forms exclude each
other.

## Fix
Unsafe: another kernel or another state format.

## Source
sglang 0.5.15.post1 to 0.5.23 srt/arg_groups/attention_hook.py `handle_linear_attn_backend`.
"""

from preflight.engines.sglang.facts import at_least, cuda_major
from preflight.engines.sglang.hybrid import extra_buffer
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("ATT040", "linear-attention-kernel", "sglang", "linear-attention")

_SOURCE = "srt/arg_groups/attention_hook.py"


def _decode(s: State) -> str | None:
    backend: str | None = s.linear_attn_decode_backend or s.linear_attn_backend
    return backend


def _replay_fault(s: State) -> str | None:
    if not s.enable_linear_replayssm:
        return None
    if _decode(s) not in ("triton", "helion"):
        return "needs the Triton decode kernel"
    if s.disaggregation_mode != "null":
        return "does not work with PD disaggregation"
    return "needs mamba-radix-cache-strategy no_buffer" if extra_buffer(s) else None


def _replay_verify_fault(s: State) -> str | None:
    if not s.enable_linear_replayssm_spec:
        return None
    if s.speculative_eagle_topk not in (None, 1):
        return "needs speculative-eagle-topk 1"
    if s.disaggregation_mode == "prefill":
        return "does nothing on a PD prefill server"
    return "excludes enable-linear-replayssm" if s.enable_linear_replayssm else None


ROWS = (
    Row(
        "S11-dtype",
        SETS,
        when=lambda s: s.enable_linear_replayssm_spec and s.mamba_ssm_dtype is None,
        versions="0.5.20..",
        sets="mamba-ssm-dtype",
        value="float32",
        source="srt/arg_groups/attention_hook.py",
        order=90,
    ),
    Row(
        "W3",
        SETS,
        when=lambda s: s.linear_attn_decode_backend is None and s.mamba_ssm_dtype == "bfloat16" and cuda_major(s) == 10,
        versions="0.5.12..",
        sets="linear-attn-decode-backend",
        value="flashinfer",
        source=_SOURCE,
        order=10,
    ),
    Row(
        "W4",
        REFUSES,
        when=lambda s: s.given("linear-attn-decode-backend") and s.linear_attn_decode_backend == "flashkda",
        versions="0.5.15..",
        says="FlashKDA has no decode kernel. Use linear-attn-prefill-backend flashkda.",
        at="linear-attn-decode-backend",
        fix=(Set("linear-attn-decode-backend", None),),
        source=_SOURCE,
        order=15,
        bad="--linear-attn-decode-backend flashkda --tp-size 8 @ 0.5.23 8x-h200 qwen3-next-80b-a3b",
        good="--no:linear-attn-decode-backend",
    ),
    Row(
        "W3",
        REFUSES,
        when=lambda s: _decode(s) == "flashinfer" and s.mamba_ssm_dtype != "bfloat16" and cuda_major(s) >= 10,
        versions="0.5.12..",
        says="linear-attn-decode-backend flashinfer needs mamba-ssm-dtype bfloat16 on this GPU. Set it.",
        at="linear-attn-decode-backend",
        fix=(Set("mamba-ssm-dtype", "bfloat16"), Set("linear-attn-decode-backend", None)),
        source=_SOURCE,
        order=25,
        bad="--linear-attn-decode-backend flashinfer --tp-size 8 @ 0.5.23 8x-b200 qwen3-next-80b-a3b",
        good="--mamba-ssm-dtype bfloat16",
    ),
    Row(
        "W5",
        REFUSES,
        when=lambda s: _replay_fault(s) is not None,
        versions="0.5.15..",
        says=lambda s: f"enable-linear-replayssm {_replay_fault(s)}. Leave it out.",
        at="enable-linear-replayssm",
        fix=(Set("enable-linear-replayssm", None),),
        source=_SOURCE,
        order=30,
    ),
    Row(
        "W5",
        REFUSES,
        when=lambda s: at_least(s, "0.5.18") and _replay_verify_fault(s) is not None,
        versions="0.5.18..",
        says=lambda s: f"enable-linear-replayssm-spec {_replay_verify_fault(s)}. Leave it out.",
        at="enable-linear-replayssm-spec",
        fix=(Set("enable-linear-replayssm-spec", None),),
        source=_SOURCE,
        order=31,
    ),
)
