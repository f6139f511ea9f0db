"""FlashInfer's all-reduce fusion workspace (facts: sglang-memory §4.3).

0.5.9 to 0.5.23 srt/layers/flashinfer_comm_fusion.py; the list of architectures in srt/server_args.py.
"""

from __future__ import annotations

from preflight.engines.sglang.facts import at_least, dp_attention, sm_major
from preflight.engines.steps import State
from preflight.units import MIB

_SINCE = {
    "GptOssForCausalLM": "0.5.2",
    "DeepseekV3ForCausalLM": "0.5.5",
    "Glm4MoeForCausalLM": "0.5.9",
    "Glm4MoeLiteForCausalLM": "0.5.9",
    "Qwen3MoeForCausalLM": "0.5.9",
    "KimiK25ForConditionalGeneration": "0.5.9",
    "Qwen3_5ForConditionalGeneration": "0.5.10",
    "Qwen3_5MoeForConditionalGeneration": "0.5.10",
    "DeepseekV32ForCausalLM": "0.5.15",
    "DeepseekV4ForCausalLM": "0.5.15",
    "GlmMoeDsaForCausalLM": "0.5.15",
    "MistralLarge3ForCausalLM": "0.5.15",
    "Qwen3VLMoeForConditionalGeneration": "0.5.15",
    "Qwen3NextForCausalLM": "0.5.15",
    "NemotronHForCausalLM": "0.5.15",
}
"""The listed release that first fuses for an architecture without being asked."""
_TOKENS = 2048
_GRANULARITY = 2 * MIB
_LARGEST = 2048 * MIB - 2 * MIB


def fusion_bytes(s: State) -> float:
    """Bytes of all workspaces of one rank; 0 where fusion is off. Raises Unknown."""
    if not fuses(s):
        return 0.0
    count = 2 if at_least(s, "0.5.12") else 1
    return count * workspace_bytes(int(s.tp_size or 1), int(s.model.hidden_size))


def fuses(s: State) -> bool:
    group = int(s.tp_size or 1)
    if group < 2 or s.enforce_disable_flashinfer_allreduce_fusion or s.enable_deterministic_inference:
        return False
    if s.enable_flashinfer_allreduce_fusion:
        return True
    if dp_attention(s) or s.moe_a2a_backend not in (None, "none"):
        return False
    since = _SINCE.get(str(s.model.known("architecture")))
    if since is None or not at_least(s, since):
        return False
    major = sm_major(s)
    if major == 9:
        h20 = str(s.gpu.known("gpu")).lower() == "h20"
        return at_least(s, "0.5.9") and int(s.nnodes or 1) == 1 and not (h20 and not at_least(s, "0.5.15"))
    return major == 10 and (int(s.nnodes or 1) == 1 or at_least(s, "0.5.15"))


def workspace_bytes(group: int, hidden: int) -> float:
    """Exchange buffer, flags and triple receive buffer, each rounded to 2 MiB and given another 2 MiB."""
    exchange = group * _TOKENS * hidden * 2
    receive = 3 * min(exchange, _LARGEST)
    flags = group * 1024
    return float(sum(-(-part // _GRANULARITY) * _GRANULARITY + _GRANULARITY for part in (exchange, receive, flags)))
