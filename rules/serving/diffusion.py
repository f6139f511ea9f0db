"""Flags that diffusion language models (dllm) give up.

## What it does
Reports what SGLang turns off where `dllm-algorithm` is given: the overlap schedule, and, if they were asked for, LoRA,
disaggregation, pipeline stages, mixed chunks, tiers of the KV cache, and up to 0.5.9 the radix cache; and up to 0.5.12 another
attention backend than flashinfer where CUDA graphs are on.

## Why
A diffusion model decodes whole blocks, in several passes. Whatever assumes one token at a time is switched off with a warning in
the log, and the server starts without it.

## Fix
Unsafe: leave out what has no effect.

## Source
sglang 0.5.8 to 0.5.12 srt/server_args.py `_handle_dllm_inference`; 0.5.23 srt/arg_groups/dllm_hook.py.
"""

from collections.abc import Callable

from preflight.engines.sglang.facts import on_amd
from preflight.engines.steps import SETS, Row, Set, State, Topic

TOPIC = Topic("FLG046", "diffusion-overrides", "sglang", "dllm")

_SOURCE = "srt/arg_groups/dllm_hook.py"


def _without(name: str, asked: Callable[[State], bool], plain: object, versions: str, order: int, bad: str | None = None) -> Row:
    return Row(
        f"X1-{name}",
        SETS,
        when=lambda s: s.dllm_algorithm is not None and asked(s),
        versions=versions,
        sets=name,
        value=plain,
        says=f"dllm-algorithm gives {name} up: diffusion does not work with it. Leave {name} out.",
        fix=(Set(name, None),),
        source=_SOURCE,
        order=order,
        bad=None if bad is None else f"{bad} --dllm-algorithm LowConfidence @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good=None if bad is None else f"--no:{name}",
    )


ROWS = (
    Row(
        "X1-attention",
        SETS,
        when=lambda s: (
            s.dllm_algorithm is not None and not s.disable_cuda_graph and not on_amd(s) and s.attention_backend != "flashinfer"
        ),
        versions="0.5.8..0.5.12",
        sets="attention-backend",
        value="flashinfer",
        says="dllm-algorithm takes attention-backend flashinfer while CUDA graphs are on. Leave attention-backend out.",
        fix=(Set("attention-backend", None),),
        source="srt/server_args.py",
        order=10,
    ),
    Row(
        "X1-overlap",
        SETS,
        when=lambda s: s.dllm_algorithm is not None,
        versions="0.5.8..",
        sets="disable-overlap-schedule",
        value=True,
        source=_SOURCE,
        order=12,
    ),
    Row(
        "X1-radix",
        SETS,
        when=lambda s: s.dllm_algorithm is not None,
        versions="0.5.8..0.5.9",
        sets="disable-radix-cache",
        value=True,
        source="srt/server_args.py",
        order=13,
    ),
    _without(
        "enable-hierarchical-cache",
        lambda s: s.enable_hierarchical_cache and not s.disable_radix_cache,
        False,
        "0.5.10..",
        14,
    ),
    _without("enable-lmcache", lambda s: s.enable_lmcache and not s.disable_radix_cache, False, "0.5.10..", 15),
    _without("enable-flexkv", lambda s: s.enable_flexkv and not s.disable_radix_cache, False, "0.5.18..", 16),
    _without("pp-size", lambda s: s.pp_size > 1, 1, "0.5.15..", 17, "--pp-size 2"),
    _without("enable-lora", lambda s: bool(s.enable_lora), False, "0.5.9..", 18),
    _without("disaggregation-mode", lambda s: s.disaggregation_mode != "null", "null", "0.5.9..", 19),
    _without("enable-mixed-chunk", lambda s: bool(s.enable_mixed_chunk), False, "0.5.9..", 20, "--enable-mixed-chunk"),
)
