"""Deterministic inference does not work with this attention backend.

## What it does
Finds `enable-deterministic-inference` with backends that have no deterministic kernels, and what it switches off.

## Why
A result may only be the same for every batch if each kernel reduces in the same order. flashinfer, fa3 and triton can (fa4
since 0.5.23); for DeepSeek's attention only fa3 and triton. Before 0.5.12 the usual default is chosen first, so the bare
flag is refused on SM100, whose default is a TensorRT-LLM backend; models with a default of their own still are. flashinfer
gives the radix cache up. Over several GPUs SGLang sets NCCL_ALGO and turns custom all-reduce off.

## Fix
Unsafe: another backend is another speed.

## Source
sglang 0.5.5.post3 to 0.5.18 srt/server_args.py `_handle_deterministic_inference`; 0.5.20 and 0.5.23
srt/arg_groups/attention_hook.py, overrides.py.
"""

from preflight.engines.sglang.facts import at_least, cuda_major
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("ATT042", "deterministic-attention", "sglang", "deterministic")

_SOURCE = "srt/arg_groups/attention_hook.py"
_DEEPSEEK = frozenset(
    {
        "DeepseekV2ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "MistralLarge3ForCausalLM",
        "PixtralForConditionalGeneration",
        "GlmMoeDsaForCausalLM",
        "Glm4MoeLiteForCausalLM",
        "Glm5NextForConditionalGeneration",
    }
)


def taken(s: State) -> tuple[str, ...]:
    more = ("fa4", "intel_xpu", "ascend") if at_least(s, "0.5.15") else ("ascend",)
    return ("flashinfer", "fa3", "triton", *more)


def absorbed(s: State) -> bool:
    return s.model.architecture in _DEEPSEEK


def _wrong_for_deepseek(s: State) -> bool:
    backend = s.attention_backend
    if not s.enable_deterministic_inference or backend not in taken(s) or not absorbed(s):
        return False
    if backend == "fa4":
        return cuda_major(s) not in (10, 11)
    return backend not in ("fa3", "triton", "ascend")


def _default(s: State) -> str:
    """From 0.5.12 on, before the usual default is chosen."""
    if cuda_major(s) in (10, 12):
        return "triton" if absorbed(s) else "flashinfer"
    return "fa3"


ROWS = (
    Row(
        "I6",
        SETS,
        when=lambda s: s.rl_on_policy_target is not None,
        versions="0.5.5..",
        sets="enable-deterministic-inference",
        value=True,
        source=_SOURCE,
        order=10,
    ),
    Row(
        "I1-sampling",
        SETS,
        when=lambda s: s.enable_deterministic_inference,
        versions="0.5.5..",
        sets="sampling-backend",
        value="pytorch",
        says="Deterministic inference sets sampling-backend to pytorch.",
        source=_SOURCE,
        order=12,
    ),
    Row(
        "I1",
        SETS,
        when=lambda s: s.enable_deterministic_inference and s.attention_backend is None,
        versions="0.5.5..",
        sets="attention-backend",
        value=_default,
        source=_SOURCE,
        order=14,
    ),
    Row(
        "I1",
        REFUSES,
        when=lambda s: s.enable_deterministic_inference and s.attention_backend not in taken(s),
        versions="0.5.5..",
        says="attention-backend {attention_backend} has no deterministic kernels. Use flashinfer, fa3 or triton.",
        at="attention-backend",
        fix=(Set("attention-backend", "triton"), Set("enable-deterministic-inference", None)),
        source=_SOURCE,
        order=20,
        bad="--enable-deterministic-inference --attention-backend trtllm_mha @ 0.5.9 8x-b200 llama-3.1-8b",
        good="--attention-backend flashinfer",
    ),
    Row(
        "I2",
        REFUSES,
        when=_wrong_for_deepseek,
        versions="0.5.5..",
        says="For this model deterministic inference needs attention-backend fa3 or triton, not {attention_backend}.",
        at="attention-backend",
        fix=(Set("attention-backend", "triton"),),
        source=_SOURCE,
        order=22,
        bad="--enable-deterministic-inference --attention-backend flashinfer --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--attention-backend fa3",
    ),
    Row(
        "I3",
        SETS,
        when=lambda s: s.enable_deterministic_inference and s.attention_backend == "flashinfer",
        versions="0.5.5..",
        sets="disable-radix-cache",
        value=True,
        says="Deterministic inference on flashinfer turns the radix cache off. Use fa3 or triton to keep it.",
        source=_SOURCE,
        order=24,
    ),
    Row(
        "I4",
        SETS,
        when=lambda s: s.enable_deterministic_inference and s.tp_size > 1 and cuda_major(s) > 0,
        versions="0.5.5..",
        sets="disable-custom-all-reduce",
        value=True,
        says="Deterministic inference over {tp_size} GPUs turns custom all-reduce off and sets NCCL_ALGO.",
        source=_SOURCE,
        order=26,
    ),
    Row(
        "I4",
        SETS,
        when=lambda s: s.enable_deterministic_inference and s.tp_size > 1 and s.enable_torch_symm_mem,
        versions="0.5.18..",
        sets="enable-torch-symm-mem",
        value=False,
        says="Deterministic inference over {tp_size} GPUs turns enable-torch-symm-mem off. Leave it out.",
        source=_SOURCE,
        order=27,
    ),
    Row(
        "I5",
        SETS,
        when=lambda s: s.enable_deterministic_inference and s.flashinfer_allreduce_fusion_backend is not None,
        versions="0.5.15..",
        sets="flashinfer-allreduce-fusion-backend",
        value=None,
        says="Deterministic inference turns all-reduce fusion off. Leave flashinfer-allreduce-fusion-backend out.",
        source=_SOURCE,
        order=11,
    ),
)
