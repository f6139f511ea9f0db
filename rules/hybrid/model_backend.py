"""The model does not run on this attention backend.

## What it does
Finds attention backends that a model family refuses.

## Why
gpt-oss needs attention sinks, Llama 4 chunked local layers, Gemma 4 and Exaone 4 mixed windows, and Nemotron-H and LFM2
begin with a layer that is no attention: each has a list of backends whose kernels do that. Up to 0.5.20 Exaone 4's check
runs before a backend is chosen, so it has to be spelled out there.

## Fix
Unsafe: without the flag SGLang takes one that the model runs on, except for Exaone 4.

## Source
sglang 0.5.9 srt/server_args.py, model-specific handler; 0.5.23 srt/arg_groups/model_hook.py.
"""

from preflight.engines.sglang.attention import LLAMA4
from preflight.engines.sglang.facts import at_least, attention_backends
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("ATT041", "model-attention-backend", "sglang", "model")

_EXAONE = frozenset({"Exaone4ForCausalLM", "ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM"})
_GEMMA4 = frozenset({"Gemma4ForConditionalGeneration", "Gemma4ForCausalLM", "Gemma4UnifiedForConditionalGeneration"})
_NEMOTRON_H = frozenset({"NemotronHForCausalLM", "NemotronHPuzzleForCausalLM"})
_OTHERS = ("intel_amx", "intel_xpu", "aiter", "ascend")
_SOURCE = "srt/arg_groups/model_hook.py"


def _gpt_oss(s: State) -> tuple[str, ...]:
    return ("triton", "trtllm_mha", "fa3", *(("fa4",) if at_least(s, "0.5.5") else ()), *_OTHERS)


def _windowed(s: State) -> bool:
    """Whether the model has sliding-window layers, which Exaone's check asks for."""
    return any(group.kind == "sliding" for group in s.model.attention)


def _refused(s: State, names: frozenset[str], taken: tuple[str, ...]) -> bool:
    return s.model.architecture in names and s.attention_backend not in taken


def _outside(s: State, taken: tuple[str, ...]) -> bool:
    return any(backend not in taken for backend in attention_backends(s))


ROWS = (
    Row(
        "X2",
        REFUSES,
        when=lambda s: s.model.architecture == "GptOssForCausalLM" and _outside(s, _gpt_oss(s)),
        versions="0.5.2..",
        says="gpt-oss runs on triton, fa3, fa4 or trtllm_mha, not on {attention_backend}. Leave the choice to SGLang.",
        at="attention-backend",
        fix=(Set("attention-backend", None), Set("attention-backend", "triton")),
        source=_SOURCE,
        order=44,
        bad="--attention-backend flashinfer @ 0.5.9 8x-h100-80 gpt-oss-20b",
        good="--attention-backend triton",
    ),
    Row(
        "X3",
        REFUSES,
        when=lambda s: s.model.architecture in LLAMA4 and s.attention_backend != "fa3",
        versions="0.4.10..0.4.10",
        says="Llama 4 runs on fa3, not on {attention_backend}. Set that.",
        at="attention-backend",
        fix=(Set("attention-backend", "fa3"),),
        source="srt/server_args.py",
        step="checks",
        order=40,
    ),
    Row(
        "X3",
        REFUSES,
        when=lambda s: _refused(s, LLAMA4, ("fa3", "aiter", "triton", "trtllm_mha")),
        versions="0.5.2..0.5.5",
        says="Llama 4 runs on fa3, triton or trtllm_mha and needs it spelled out here; attention-backend is {attention_backend}.",
        at="attention-backend",
        fix=(Set("attention-backend", "fa3"), Set("attention-backend", "triton")),
        source="srt/server_args.py",
        order=8,
    ),
    Row(
        "X3",
        REFUSES,
        when=lambda s: _refused(s, LLAMA4, ("fa3", "aiter", "triton", "trtllm_mha", "intel_xpu", "ascend")),
        versions="0.5.8..",
        says="Llama 4 runs on fa3, triton or trtllm_mha, not on {attention_backend}. Leave the choice to SGLang.",
        at="attention-backend",
        fix=(Set("attention-backend", None), Set("attention-backend", "triton")),
        source=_SOURCE,
        order=44,
        bad="--attention-backend flashinfer --tp-size 8 @ 0.5.9 8x-h200 llama-4-scout",
        good="--attention-backend fa3",
    ),
    Row(
        "X4",
        REFUSES,
        when=lambda s: s.model.architecture in _GEMMA4 and _outside(s, ("trtllm_mha", "triton", "fa4", *_OTHERS)),
        versions="0.5.15..",
        says="Gemma 4 runs on triton, fa4 or trtllm_mha, not on {attention_backend}. Leave the choice to SGLang.",
        at="attention-backend",
        fix=(Set("attention-backend", None), Set("attention-backend", "triton")),
        source=_SOURCE,
        order=44,
    ),
    Row(
        "X5",
        REFUSES,
        when=lambda s: _refused(s, _EXAONE, ("fa3", "triton", "trtllm_mha")) and _windowed(s),
        versions="0.5.5..",
        says="Exaone runs on fa3, triton or trtllm_mha and needs it spelled out here; attention-backend is {attention_backend}.",
        at="attention-backend",
        fix=(Set("attention-backend", "triton"),),
        source=_SOURCE,
        order=44,
    ),
    Row(
        "X5",
        REFUSES,
        when=lambda s: s.model.architecture == "Olmo2ForCausalLM" and s.attention_backend == "flashinfer",
        versions="0.5.5..",
        says="OLMo refuses attention-backend flashinfer, which is slow with its sliding windows. Leave the choice to SGLang.",
        at="attention-backend",
        fix=(Set("attention-backend", None),),
        source=_SOURCE,
        order=44,
    ),
    Row(
        "X6",
        REFUSES,
        when=lambda s: (
            s.attention_backend == "triton"
            and (
                s.model.architecture in ("Lfm2ForCausalLM", "Lfm2MoeForCausalLM")
                or (s.model.architecture in _NEMOTRON_H and not at_least(s, "0.5.20"))
            )
        ),
        versions="0.5.8..",
        says="This model does not run on triton, for its first layer is no attention. Leave the choice to SGLang.",
        at="attention-backend",
        fix=(Set("attention-backend", None),),
        source=_SOURCE,
        order=70,
    ),
)
