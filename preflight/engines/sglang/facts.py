"""Questions that several of SGLang's own conditions ask of a half-resolved launch.

Read in the wheels 0.4.6.post5 to 0.5.23: srt/server_args.py, srt/arg_groups/, srt/configs/model_config.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from preflight.engines.steps import State

_TEXT_ONLY_BY_DEFAULT = ("Gemma3ForConditionalGeneration", "Llama4ForConditionalGeneration", "Step3VLForConditionalGeneration")
_PREFILL_GRAPH_ALLOWED = frozenset(
    {
        "KimiK25ForConditionalGeneration",
        "KimiK3ForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen4ExpForConditionalGeneration",
        "MiniMaxM3SparseForConditionalGeneration",
        "Cohere2VisionForConditionalGeneration",
        "Glm5NextForConditionalGeneration",
        "InternS2MobiusForConditionalGeneration",
        "PaddleOCRVLForConditionalGeneration",
        "MuseGlimmerForConditionalGeneration",
        "MuseSparkForConditionalGeneration",
    }
)
_PIECEWISE_DENIED = frozenset(
    {
        "DeepseekV32ForCausalLM",
        "GlmMoeDsaForCausalLM",
        "Qwen3NextForCausalLM",
        "BailingMoeV2_5ForCausalLM",
        "LLaDAModelLM",
        "LLaDA2MoeModelLM",
    }
)
DRAFT_COUNTED = "0.5.14"
"""The release from which a draft's weights and cache count before sizing: 0.5.15 by its source, and an image of 0.5.14 printed
the message that came with it; 0.5.12 does not count them."""
_EAGLE_FAMILY = frozenset({"EAGLE", "EAGLE3", "NEXTN", "STANDALONE"})
TRTLLM_RUNNERS = ("flashinfer_trtllm", "flashinfer_trtllm_routed")
"""MoE runners with the TensorRT-LLM kernels of FlashInfer."""


def at_least(s: State, version: str) -> bool:
    """Whether the launch's release is `version` or later."""
    return s.version >= _numbers(version)


@lru_cache(maxsize=64)
def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def splits(whole: int, parts: int) -> bool:
    """Whether `parts` divides `whole`; a size of zero or less is another rule's matter."""
    return parts < 1 or whole % parts == 0


def largest_divisor(whole: int, most: int) -> int:
    """The largest divisor of `whole` that is not above `most`."""
    return next(size for size in range(max(1, min(most, whole)), 0, -1) if whole % size == 0)


def ranks(s: State) -> int:
    return int(s.tp_size or 1) * pipeline(s)


def pipeline(s: State) -> int:
    """Pipeline stages; the oldest releases have no such flag."""
    return int(s.pp_size or 1)


def layer_partition(s: State) -> tuple[int, ...]:
    """Layers of each pipeline stage where the environment states them; empty where it does not."""
    try:
        return tuple(int(count) for count in (s.env("SGLANG_PP_LAYER_PARTITION") or "").split(",") if count.strip())
    except ValueError:
        return ()


def algorithm(s: State) -> str | None:
    """The speculative algorithm in capitals, None without one."""
    name = s.speculative_algorithm
    return None if name is None else str(name).upper()


def dp_attention(s: State) -> bool:
    """Whether DP attention is on, as the memory handler reads it: the flag as given, up to 0.5.20 also with one replica."""
    if at_least(s, "0.5.23"):
        return bool(attention_dp(s) > 1)
    return bool(s.enable_dp_attention)


def attention_dp(s: State) -> int:
    if at_least(s, "0.5.23"):
        return int(s.attn_dp_size or 1) if (s.attn_dp_size or 1) > 1 else int(s.dp_size if s.enable_dp_attention else 1)
    return int(s.dp_size or 1)


def dp_groups(s: State) -> int:
    """How many groups attention is spread over once the data-parallel handler has run; 1 without DP attention."""
    if at_least(s, "0.5.23"):
        return int(s.attn_dp_size)
    return int(s.dp_size) if s.enable_dp_attention else 1


def multimodal(s: State) -> bool:
    """Whether the model is *enabled as* multimodal: some architectures are text-only unless the launch says otherwise."""
    model: Any = s.model
    architecture = model.architecture
    text_only = architecture in _TEXT_ONLY_BY_DEFAULT and (at_least(s, "0.5") or not str(architecture).startswith("Step3"))
    if model.known("vision") is None and not model.known("multimodal") and not text_only:
        return False
    if architecture == "InklingForConditionalGeneration" and at_least(s, "0.5.18"):
        text_only = True
    return bool(s.enable_multimodal) or not text_only


def is_mla(s: State) -> bool:
    return bool(s.model.is_mla) and not str(s.model.architecture).startswith("DeepseekV4")


def is_dsa(s: State) -> bool:
    return any(group.index_head_dim for group in s.model.attention)


def recurrent(s: State) -> bool:
    """Whether some layers keep a state instead of keys and values."""
    return any(group.kind == "linear" for group in s.model.attention)


def sliding(s: State) -> bool:
    """Whether some layers attend within a window and keep a pool of their own."""
    return any(group.kind in ("sliding", "chunked") for group in s.model.attention) and not s.disable_hybrid_swa_memory


def sm(s: State) -> int:
    """Compute capability as one number: 9.0 is 90."""
    major, minor = s.gpu.compute_capability
    return int(major * 10 + minor)


def sm_major(s: State) -> int:
    return int(s.gpu.compute_capability[0])


def on_cuda(s: State) -> bool:
    device = s.device
    if device not in (None, "cuda"):
        return False
    return bool(s.gpu.known("vendor") in (None, "nvidia"))


def on_amd(s: State) -> bool:
    return bool(s.gpu.known("vendor") == "amd")


def cuda_major(s: State) -> int:
    """The major compute capability, 0 off CUDA: 9 is Hopper, 10 is B200 and B300, 12 is RTX PRO 6000 and RTX 50."""
    return sm_major(s) if on_cuda(s) else 0


def blackwell(s: State) -> bool:
    """SM100 to SM12x, as upstream groups them."""
    return cuda_major(s) in (10, 11, 12)


def attention_unset(s: State) -> bool:
    """Whether no attention backend is chosen, neither for both phases nor for one."""
    return s.attention_backend is None and s.prefill_attention_backend is None and s.decode_attention_backend is None


def attention_backends(s: State) -> tuple[str | None, str | None]:
    """The backends of prefill and decode: a phase's own, else the common one."""
    return s.prefill_attention_backend or s.attention_backend, s.decode_attention_backend or s.attention_backend


def attention_uses(s: State, *names: str) -> bool:
    """Whether any of the three backend settings is one of `names`."""
    return s.attention_backend in names or s.decode_attention_backend in names or s.prefill_attention_backend in names


def forces_topk_one(s: State) -> bool:
    """Algorithms that draft one token at a time, whatever was given (0.5.23)."""
    return at_least(s, "0.5.23") and algorithm(s) == "DFLASH"


def decode_graph_enabled(s: State) -> bool:
    if s.disable_cuda_graph:
        return False
    return bool(s.cuda_graph_backend_decode != "disabled")


def prefill_graph_enabled(s: State) -> bool:
    """Whether the prefill graph's memory is reserved when the fraction is chosen (facts: sglang-memory §2.3)."""
    if not at_least(s, "0.5.10"):
        return at_least(s, "0.5.5") and bool(s.enable_piecewise_cuda_graph)
    if not at_least(s, "0.5.15"):
        return not s.disable_piecewise_cuda_graph
    return bool(s.cuda_graph_backend_prefill != "disabled" and s.disaggregation_mode != "decode")


def piecewise_reasons(s: State) -> bool:
    """0.5.10 and 0.5.12: whether anything turns the piecewise prefill graph off."""
    architecture = s.model.architecture
    denied = architecture in _PIECEWISE_DENIED or is_dsa(s)
    if at_least(s, "0.5.12"):
        denied = denied or str(architecture).startswith("DeepseekV4")
    else:
        denied = denied or s.speculative_algorithm is not None
    return bool(
        denied
        or s.enable_dp_attention
        or s.enable_torch_compile
        or s.pp_size > 1
        or not on_cuda(s)
        or s.moe_a2a_backend not in (None, "none")
        or s.enable_lora
        or s.lora_paths
        or multimodal(s)
        or s.load_format == "gguf"
        or s.quantization == "gguf"
        or s.dllm_algorithm is not None
        or (s.cpu_offload_gb or 0) > 0
        or s.enable_hierarchical_cache
        or s.enable_deterministic_inference
        or s.disaggregation_mode not in (None, "null")
        or s.enable_symm_mem
        or s.enable_eplb
        or s.expert_distribution_recorder_mode is not None
        or (s.attn_cp_size or 1) > 1
        or s.debug_cuda_graph
    )


def breakable_default(s: State) -> bool:
    """0.5.15 on: whether the default prefill graph stays on for what the launch is."""
    return _breakable_0_5_15(s) if not at_least(s, "0.5.18") else _breakable_0_5_18(s)


def _breakable_0_5_15(s: State) -> bool:
    return not (
        is_mla(s)
        or str(s.model.architecture).startswith("DeepseekV4")
        or (s.attn_cp_size or 1) > 1
        or s.enable_lora
        or s.lora_paths
        or s.moe_a2a_backend not in (None, "none")
        or s.enable_dp_attention
        or multimodal(s)
    )


def _breakable_0_5_18(s: State) -> bool:
    architecture = str(s.model.architecture)
    linear_kinds = {group.linear for group in s.model.attention if group.kind == "linear"}
    return not (
        ("kda" in linear_kinds and not architecture.startswith("Glm5Next"))
        or architecture.startswith("DeepseekV4")
        or (s.attn_cp_size or 1) > 1
        or (s.dcp_size or 1) > 1
        or s.enable_two_batch_overlap
        or s.moe_a2a_backend not in (None, "none", "deepep", "megamoe", "flashinfer")
        or (s.pp_size > 1 and at_least(s, "0.5.20"))
        or (multimodal(s) and architecture not in _PREFILL_GRAPH_ALLOWED)
    )


def prefill_graph_list(s: State, most: int) -> list[int]:
    """The token counts that the prefill graph is captured for, up to `most`."""
    steps = [(4, 32, 4), (48, 256, 16), (288, 512, 32)]
    if at_least(s, "0.5.9"):
        steps += [(576, 1024, 64), (1280, 4096, 256), (4608, most, 512)]
    else:
        steps += [(640, 4096, 128), (4352, most, 256)]
    return [size for start, stop, step in steps for size in range(start, stop + 1, step) if size <= most]


def prefill_graph_sizes(s: State) -> int:
    """How many token counts the prefill graph is captured for."""
    given = s.cuda_graph_bs_prefill
    most = s.cuda_graph_max_bs_prefill
    sizes = given if given is not None else prefill_graph_list(s, prefill_graph_most(s) if most is None else most)
    if at_least(s, "0.5.18") and s.moe_a2a_backend == "deepep":
        return len({-(-size // 8) * 8 for size in sizes})
    return len(sizes)


def prefill_graph_most(s: State) -> int:
    """The most tokens that a prefill graph is captured for, where the launch does not say."""
    most = s.chunked_prefill_size
    if not at_least(s, "0.5.8"):
        return 4096
    if is_mla(s):
        most = min(8192, most) if at_least(s, "0.5.23") else 2048
    if (
        at_least(s, "0.5.23")
        and s.pp_size > 1
        and s.cuda_graph_backend_prefill == "breakable"
        and not s.given("cuda-graph-bs-prefill")
    ):
        most = min(most, 8192)
    if at_least(s, "0.5.10"):
        if s.max_total_tokens is not None:
            most = min(most, s.max_total_tokens)
        if "llama-2" in str(s.model_path).lower():
            most = min(most, 4096)
    return int(most)


def eagle_family(s: State) -> bool:
    return algorithm(s) in _EAGLE_FAMILY


def speculation(s: State) -> bool:
    """Whether the launch speculates at all; "NONE" is a name for not doing so."""
    return algorithm(s) not in (None, "NONE")


def checkpoint_quantization(s: State) -> str | None:
    """The quant_method of the checkpoint; None where its weights are not quantised. Raises Unknown without a model."""
    model: Any = s.model
    return None if model.architecture is None else model.known("quantization")


def config_quantization(s: State) -> str | None:
    """The quant_method that config.json itself declares; None where it declares none. Raises Unknown."""
    declared = s.model.known("config_quantization")
    if declared is None and checkpoint_quantization(s) is not None:
        declared = s.model.config_quantization
    return declared or None


def quantization(s: State) -> str | None:
    """The method asked for; "unquant" (0.5.12 on) is a name for none."""
    method = s.quantization
    return None if method == "unquant" else method


def hicache_active(s: State) -> bool:
    """Whether the release looks at HiCache's layout at all."""
    if not at_least(s, "0.5.10"):
        return True
    if s.enable_hierarchical_cache or s.disaggregation_decode_enable_offload_kvcache:
        return True
    if not at_least(s, "0.5.18") or s.disaggregation_mode != "decode":
        return False
    return s.disaggregation_decode_retraction_backup in (None, "host_pool") and at_least(s, "0.5.23")
