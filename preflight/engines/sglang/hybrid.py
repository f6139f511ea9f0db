"""Models with state layers (Mamba, GDN, KDA, short convolutions): how their states share the prefix cache.

Read in the wheels 0.5.9 to 0.5.23: srt/server_args.py `_handle_mamba_radix_cache`; from 0.5.15 on
srt/arg_groups/overrides.py, mamba_hook.py.
"""

from __future__ import annotations

from preflight.engines.sglang.facts import at_least
from preflight.engines.steps import SETS, Row, State

_HYBRID_0_5_9 = frozenset(
    {
        "NemotronHForCausalLM",
        "Qwen3NextForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "FalconH1ForCausalLM",
        "JetNemotronForCausalLM",
        "JetVLMForConditionalGeneration",
        "Lfm2ForCausalLM",
    }
)
_HYBRID_0_5_15 = _HYBRID_0_5_9 | {
    "KimiLinearForCausalLM",
    "BailingMoeV2_5ForCausalLM",
    "InternS2PreviewForConditionalGeneration",
    "MiniCPMV4_6ForConditionalGeneration",
    "NemotronHPuzzleForCausalLM",
}
_SNAPSHOTS_0_5_9 = frozenset({"Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration"})
_SNAPSHOTS_0_5_23 = _SNAPSHOTS_0_5_9 | {
    "KimiLinearForCausalLM",
    "BailingMoeV2_5ForCausalLM",
    "InternS2PreviewForConditionalGeneration",
    "MiniCPMV4_6ForConditionalGeneration",
    "FalconH1ForCausalLM",
    "GraniteMoeHybridForCausalLM",
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
}
UNCACHED = ("KimiLinearForCausalLM", "BailingMoeV2_5ForCausalLM")
"""Up to 0.5.12 the prefix cache knows no states of these."""
CHUNK = 64
"""Tokens of one chunk of the state kernels."""


def shares_states(s: State) -> bool:
    """Whether the release keeps this model's states in the prefix cache."""
    architecture = s.model.architecture
    if architecture == "GraniteMoeHybridForCausalLM":
        return any(group.kind == "linear" for group in s.model.attention)
    return architecture in (_HYBRID_0_5_15 if at_least(s, "0.5.15") else _HYBRID_0_5_9)


def takes_snapshots(s: State) -> bool:
    """Whether the model can copy its state at page boundaries, which the extra buffer is for."""
    architecture = s.model.architecture
    if architecture == "MiniCPMV4_6ForConditionalGeneration":
        return True
    if not at_least(s, "0.5.15"):
        return architecture in _SNAPSHOTS_0_5_9 or architecture == "InternS2PreviewForConditionalGeneration"
    return architecture in _SNAPSHOTS_0_5_23 and s.linear_attn_backend == "triton"


def extra_buffer(s: State) -> bool:
    return str(s.mamba_radix_cache_strategy).startswith("extra_buffer")


def without_buffer(s: State) -> bool:
    """Whether cached states are shared without an extra buffer, so that nothing may overlap."""
    return not s.disable_radix_cache and shares_states(s) and not extra_buffer(s)


def _automatic(s: State) -> str:
    paged = s.page_size is not None and s.page_size > 1
    wanted = not s.disable_overlap_schedule or paged
    return "extra_buffer" if wanted and takes_snapshots(s) else "no_buffer"


_SOURCE = "srt/server_args.py `_handle_mamba_radix_cache` (0.5.15: srt/arg_groups/overrides.py)"

HYBRID_ROWS = (
    Row(
        "W1",
        SETS,
        when=lambda s: s.mamba_radix_cache_strategy == "auto",
        versions="0.5.8..0.5.12",
        sets="mamba-radix-cache-strategy",
        value="no_buffer",
        source="srt/server_args.py, missing defaults",
        step="early",
    ),
    Row(
        "W6",
        SETS,
        when=lambda s: s.model.architecture in UNCACHED,
        versions="0.5.8..0.5.12",
        sets="disable-radix-cache",
        value=True,
        source=_SOURCE,
        step="model",
        order=56,
    ),
    Row(
        "W1",
        SETS,
        when=lambda s: s.mamba_radix_cache_strategy == "auto" and not s.disable_radix_cache and shares_states(s),
        versions="0.5.15..",
        sets="mamba-radix-cache-strategy",
        value=_automatic,
        source=_SOURCE,
        step="model",
        order=10,
    ),
    Row(
        "W1",
        SETS,
        when=lambda s: not s.given("mamba-radix-cache-strategy") and s.mamba_radix_cache_strategy == "no_buffer",
        versions="0.5.15..",
        sets="disable-overlap-schedule",
        value=True,
        source=_SOURCE,
        step="model",
        order=11,
    ),
    Row(
        "W1",
        SETS,
        when=lambda s: without_buffer(s) and s.speculative_algorithm is None and s.attention_backend != "trtllm_mha",
        versions="0.5.9..0.5.12",
        sets="disable-overlap-schedule",
        value=True,
        source=_SOURCE,
        step="model",
        order=58,
    ),
    Row(
        "W1",
        SETS,
        when=lambda s: s.page_size not in (None, 1) and without_buffer(s),
        versions="0.5.12..0.5.12",
        sets="page-size",
        value=1,
        source=_SOURCE,
        step="model",
        order=57,
    ),
    Row(
        "W3",
        SETS,
        when=lambda s: s.linear_attn_decode_backend is None and s.linear_attn_backend == "flashkda",
        versions="0.5.15..",
        sets="linear-attn-decode-backend",
        value="triton",
        source="srt/arg_groups/attention_hook.py handle_linear_attn_backend",
        step="linear-attention",
        order=20,
    ),
)
"""Rows that only fill in; what overrules or refuses a launch is in rules/hybrid."""
