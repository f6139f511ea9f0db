"""The attention backend decides the page size, whatever page-size says.

## What it does
Reports a page-size that the attention backend replaces.

## Why
Kernels are built for pages of certain lengths, and SGLang changes page-size to one of them with a line in the boot
log: flashmla and hpc_ops read pages of 64 tokens, cutlass_mla and FlashAttention 4 of 128, trtllm_mla of 32 or 64,
trtllm_mha of 16, 32, 64 and from 0.5.18 on 128. What was derived from the given size (a chunk, a store's layout) then
no longer fits.

## Source
sglang srt/server_args.py `_handle_attention_backend_compatibility`, 0.4.6.post5 to 0.5.12;
srt/arg_groups/overrides.py `_mla_backend_page_constraints`, `_fa4_page_constraint`, `_intel_xpu_page_constraint`,
0.5.15 to 0.5.23.
"""

from collections.abc import Callable

from preflight.engines.sglang.facts import at_least, attention_uses, cuda_major, is_mla
from preflight.engines.steps import SETS, Row, Set, State, Topic

TOPIC = Topic("ATT003", "page-size-replaced-by-backend", "sglang", "attention")
_SOURCE = "srt/server_args.py _handle_attention_backend_compatibility"
_MLA = (32, 64)


def _decodes(name: str) -> Callable[[State], bool]:
    return lambda s: s.attention_backend == name or s.decode_attention_backend == name


def _mha_pages(s: State) -> tuple[int, ...]:
    return (16, 32, 64, 128) if at_least(s, "0.5.18") else (16, 32, 64)


def _mha(s: State) -> bool:
    return attention_uses(s, "trtllm_mha") or (at_least(s, "0.5.18") and s.speculative_draft_attention_backend == "trtllm_mha")


def _fa4(s: State) -> bool:
    if not at_least(s, "0.5.15"):
        return s.prefill_attention_backend == "fa4" and not is_mla(s) and (not at_least(s, "0.5.10") or cuda_major(s) == 10)
    return attention_uses(s, "fa4") and not is_mla(s) and cuda_major(s) == 10 and (s.speculative_eagle_topk or 0) <= 1


def _says(name: str, pages: str) -> str:
    return f"{name} works on pages of {pages} tokens only, so page-size becomes {{page_size}}. Set page-size to {{page_size}}."


def _row(
    name: str, when: Callable[[State], bool], page: int, words: str, versions: str, order: int, bad: str | None = None
) -> Row:
    backend = words.partition("|")
    return Row(
        name,
        SETS,
        when=when,
        versions=versions,
        sets="page-size",
        value=page,
        says=_says(backend[0], backend[2]),
        fix=(Set("page-size", page),),
        source=_SOURCE,
        bad=bad,
        good=None if bad is None else f"--page-size {page}",
        order=order,
    )


ROWS = (
    _row(
        "A4",
        _decodes("flashmla"),
        64,
        "flashmla|64",
        "..",
        30,
        "--tp-size 8 --attention-backend flashmla --page-size 32 @ 0.5.9 8x-h200 deepseek-v3",
    ),
    _row(
        "A5",
        _decodes("cutlass_mla"),
        128,
        "cutlass_mla|128",
        "..0.5.18",
        31,
        "--tp-size 8 --attention-backend cutlass_mla --page-size 32 @ 0.5.9 8x-b200 deepseek-v3",
    ),
    _row(
        "A7",
        lambda s: _decodes("trtllm_mla")(s) and s.page_size not in _MLA,
        64,
        "trtllm_mla|32 or 64",
        "0.5.2..",
        32,
        "--tp-size 8 --attention-backend trtllm_mla --page-size 16 @ 0.5.9 8x-b200 deepseek-v3",
    ),
    _row(
        "A7-tokenspeed",
        lambda s: _decodes("tokenspeed_mla")(s) and s.page_size not in _MLA,
        64,
        "tokenspeed_mla|32 or 64",
        "0.5.12..0.5.20",
        33,
    ),
    _row(
        "A18-page",
        lambda s: attention_uses(s, "cutedsl_mla") and s.page_size not in _MLA,
        64,
        "cutedsl_mla|32 or 64",
        "0.5.15..",
        34,
        "--tp-size 8 --decode-attention-backend cutedsl_mla --page-size 16 @ 0.5.23 8x-b200 deepseek-v3",
    ),
    _row(
        "A10",
        lambda s: _mha(s) and s.page_size not in _mha_pages(s),
        64,
        "trtllm_mha|16, 32 or 64 (from 0.5.18 on also 128)",
        "0.5.2..",
        35,
        "--tp-size 8 --attention-backend trtllm_mha --page-size 8 @ 0.5.9 8x-b200 llama-3.1-8b",
    ),
    _row(
        "A17",
        lambda s: attention_uses(s, "hpc_ops") and s.page_size != 64,
        64,
        "hpc_ops|64",
        "0.5.15..",
        36,
        "--tp-size 8 --attention-backend hpc_ops --page-size 16 @ 0.5.23 8x-h200 llama-3.1-8b",
    ),
    _row(
        "A12",
        _fa4,
        128,
        "FlashAttention 4|128",
        "0.5.5..",
        52,
        "--tp-size 8 --attention-backend triton --prefill-attention-backend fa4 --page-size 64 @ 0.5.9 8x-b200 llama-3.1-8b",
    ),
    _row(
        "A13",
        lambda s: s.attention_backend == "intel_xpu" and s.page_size not in (32, 64, 128),
        128,
        "intel_xpu|32, 64 or 128",
        "0.5.5..0.5.10",
        70,
    ),
)
