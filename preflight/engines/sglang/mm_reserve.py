"""What a multimodal model keeps for after KV sizing: an embedding cache, and pools of the feature transport (0.5.18 on).

Facts: sglang-memory §1.6 and §2.6. 0.5.18 to 0.5.23 srt/mem_cache/kv_cache_configurator.py `mm_runtime_reservation_gb`; 0.5.23
srt/arg_groups/model_overrides/qwen3_vl.py.
"""

from __future__ import annotations

from preflight.engines.sglang.facts import at_least, multimodal, sm
from preflight.engines.steps import State, Unknown
from preflight.units import GIB, MIB

_QWEN3_VL = ("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration")
_LARGE_HOPPER = 60 * GIB
_ON_DEVICE = ("cuda_ipc", "cuda_vmm")
_EMBEDDINGS_MIB, _FEATURES_MIB, _MANY_FEATURES_MIB, _MANY_REQUESTS = 100, 1024, 3072, 400


def runtime_reserve(s: State) -> float:
    """Bytes; 0 where the model is not multimodal or what decides is not known."""
    if not at_least(s, "0.5.18"):
        return 0.0
    try:
        return _reserve(s) if s.model.known("vision") is not None or multimodal(s) else 0.0
    except (Unknown, ValueError):
        return 0.0


def _reserve(s: State) -> float:
    streaming = _streams(s)
    embeddings = int(s.env("SGLANG_VLM_CACHE_SIZE_MB") or (0 if streaming else _EMBEDDINGS_MIB))
    transport = s.mm_feature_transport
    if streaming and transport is None and int(s.nnodes or 1) == 1 and not embeddings and not s.mm_preprocess_cache_size_mb:
        transport = "cuda_ipc"
    if transport not in _ON_DEVICE:
        return float(embeddings * MIB)
    many = streaming and (s.max_running_requests or 0) >= _MANY_REQUESTS
    features = int(s.env("SGLANG_MM_FEATURE_CACHE_MB") or (_MANY_FEATURES_MIB if many else _FEATURES_MIB))
    return float((embeddings + features) * MIB)


def _streams(s: State) -> bool:
    """Whether the release serves the model on its path for large Hopper cards, which retains no embeddings."""
    if not at_least(s, "0.5.23") or s.model.known("architecture") not in _QWEN3_VL:
        return False
    return sm(s) == 90 and s.gpu.memory >= _LARGE_HOPPER
