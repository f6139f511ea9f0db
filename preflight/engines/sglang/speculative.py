"""What SGLang fills in for speculative decoding: the draft's path and kernels, its parameters, the request limit.

Read in the wheels 0.4.6.post5 to 0.5.23: srt/server_args.py, speculative handler; from 0.5.15 on
srt/arg_groups/speculative_hook.py.
"""

from __future__ import annotations

from typing import Any

from preflight.engines.sglang.facts import algorithm, at_least, speculation
from preflight.engines.steps import MODEL_OVERRIDE, SETS, Row, State, Unknown

_BUILT_IN_DRAFT = (
    # architecture, first release (major.minor.patch) whose checkpoints need no draft path
    ("DeepseekV3ForCausalLM", "0.4.0"),
    ("Glm4MoeForCausalLM", "0.4.10"),
    ("DeepseekV32ForCausalLM", "0.5.5"),
    ("BailingMoeForCausalLM", "0.5.5"),
    ("BailingMoeV2ForCausalLM", "0.5.5"),
    ("Glm4MoeLiteForCausalLM", "0.5.8"),
    ("MistralLarge3ForCausalLM", "0.5.8"),
    ("PixtralForConditionalGeneration", "0.5.8"),
    ("GlmMoeDsaForCausalLM", "0.5.9"),
    ("BailingMoeV2_5ForCausalLM", "0.5.9"),
    ("DeepseekV4ForCausalLM", "0.5.12"),
    ("HYV3ForCausalLM", "0.5.12"),
    ("HYV4ForCausalLM", "0.5.23"),
    ("Qwen4ExpForConditionalGeneration", "0.5.23"),
)
_SHORT_CHAIN = {
    "0.4.10": ("DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM"),
    "0.5.2": ("DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM", "GptOssForCausalLM"),
    "0.5.5": (
        "DeepseekV32ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekV2ForCausalLM",
        "GptOssForCausalLM",
        "BailingMoeForCausalLM",
        "BailingMoeV2ForCausalLM",
    ),
}
"""Up to 0.5.5: what drafts a chain of three tokens; since 0.5.8 that is everything but Llama and Grok."""
_LONG_TREE = ("LlamaForCausalLM", "Grok1ForCausalLM", "Grok1VForCausalLM")
REQUESTS = 48
"""Running requests that speculation allows where the launch says nothing."""


def built_in_draft(s: State) -> bool:
    """Whether the release takes the draft from the target checkpoint itself."""
    since = dict(_BUILT_IN_DRAFT).get(s.model.architecture)
    return since is not None and at_least(s, since)


def parameters(s: State) -> tuple[int, int, int]:
    """Steps, branches and draft tokens that the release chooses."""
    if algorithm(s) == "STANDALONE":
        return 3, 1, 4
    architecture = s.model.architecture
    if at_least(s, "0.5.8"):
        return (5, 4, 8) if architecture in _LONG_TREE else (3, 1, 4)
    short: tuple[str, ...] = ()
    for since, architectures in _SHORT_CHAIN.items():
        short = architectures if at_least(s, since) else short
    return (3, 1, 4) if architecture in short else (5, 4, 8)


def alias(s: State) -> str:
    """The algorithm under its proper name: NEXTN is EAGLE, or Gemma 4's own kind for Gemma 4's assistant draft."""
    name = str(algorithm(s))
    if name not in ("NEXTN", "EAGLE"):
        return name
    if s.speculative_draft_model_path is None or not at_least(s, "0.5.12"):
        return "EAGLE"
    draft = s.draft.known("architecture")
    if draft is None and _may_be_gemma(s):
        raise Unknown("draft model architecture")
    return "FROZEN_KV_MTP" if draft in ("Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM") else "EAGLE"


def _may_be_gemma(s: State) -> bool:
    architecture = s.model.known("architecture")
    return "gemma" in str(architecture or s.model_path).lower()


def limits_requests(s: State) -> bool:
    """Whether the algorithm sets a limit of running requests where none is given."""
    if s.speculative_algorithm is None or s.max_running_requests is not None:
        return False
    return algorithm(s) in _LIMITING and speculation(s)


_LIMITING = frozenset({"EAGLE", "EAGLE3", "STANDALONE", "NGRAM", "DFLASH", "DSPARK", "FROZEN_KV_MTP"})


def draft_runner(s: State) -> Any:
    """The MoE runner of the draft, where none is given: the target's, but for some that a draft cannot use."""
    runner = s.moe_runner_backend
    if not at_least(s, "0.5.12"):
        shunned = ("flashinfer_trtllm", "flashinfer_trtllm_routed") if at_least(s, "0.5.10") else ("flashinfer_trtllm",)
        return "auto" if runner in shunned else runner
    if runner == "flashinfer_megamoe":
        return "flashinfer_trtllm"
    return "auto" if str(runner).startswith("lora_") else runner


def keeps_mixed_chunk(s: State) -> bool:
    """0.5.20: these algorithms resume running requests inside a mixed step."""
    return at_least(s, "0.5.20") and algorithm(s) in ("EAGLE", "EAGLE3", "DFLASH", "DSPARK")


def overlap_off(s: State) -> bool:
    """Up to 0.5.12: whether the release schedules speculation without overlap."""
    name = algorithm(s)
    if not at_least(s, "0.5.5"):
        return name in ("EAGLE", "EAGLE3", "STANDALONE")
    if name in ("NGRAM", "DFLASH", "FROZEN_KV_MTP"):
        return True
    if name not in ("EAGLE", "EAGLE3", "STANDALONE"):
        return False
    if not at_least(s, "0.5.12"):
        return not s.flag("SGLANG_ENABLE_SPEC_V2")
    return (s.speculative_eagle_topk or 1) > 1 or not s.flag("SGLANG_ENABLE_SPEC_V2", default=True)


def overlap_forced(s: State) -> bool:
    """0.5.5 to 0.5.10: the second worker turns overlap on, whatever the launch says."""
    names = ("EAGLE", "EAGLE3", "STANDALONE") if at_least(s, "0.5.8") else ("EAGLE",)
    return algorithm(s) in names and s.flag("SGLANG_ENABLE_SPEC_V2")


def chain_tokens_differ(s: State) -> bool:
    if not eagle(s) or s.speculative_eagle_topk != 1 or s.speculative_num_steps is None:
        return False
    return bool(s.speculative_num_draft_tokens != s.speculative_num_steps + 1)


def eagle(s: State) -> bool:
    return algorithm(s) in ("EAGLE", "EAGLE3", "STANDALONE")


def undecided(s: State) -> bool:
    """Whether the release chooses all three parameters."""
    if not eagle(s) or (at_least(s, "0.5.15") and s.speculative_adaptive):
        return False
    given = (s.speculative_num_steps, s.speculative_eagle_topk, s.speculative_num_draft_tokens)
    return all(value is None for value in given)


_SOURCE = "srt/server_args.py, speculative handler (0.5.15: srt/arg_groups/speculative_hook.py)"

_LAYERED = frozenset({"MiMoV2FlashForCausalLM", "MiMoV2ForCausalLM", "Step3p5ForCausalLM", "Step3p7ForConditionalGeneration"})
"""Models with several layers for next tokens, which draft one token each."""


SPECULATIVE_ROWS = (
    Row(
        "S19",
        SETS,
        when=lambda s: s.speculative_algorithm == "EAGLE" and s.model.architecture in _LAYERED,
        versions="0.5.8..",
        sets="enable-multi-layer-eagle",
        value=True,
        origin=MODEL_OVERRIDE,
        source="srt/arg_groups/overrides.py",
        step="model",
        order=35,
    ),
    Row(
        "S11",
        SETS,
        when=lambda s: s.speculative_draft_model_path is not None and s.speculative_draft_model_revision is None,
        versions="0.5.8..",
        sets="speculative-draft-model-revision",
        value="main",
        source=_SOURCE,
        order=2,
    ),
    Row(
        "S12",
        SETS,
        when=lambda s: s.speculative_moe_runner_backend is None,
        versions="0.5.8..",
        sets="speculative-moe-runner-backend",
        value=draft_runner,
        source=_SOURCE,
        order=6,
    ),
    Row(
        "S1",
        SETS,
        when=lambda s: s.speculative_algorithm is not None,
        versions="0.5.12..",
        sets="speculative-algorithm",
        value=alias,
        source=_SOURCE,
        order=8,
    ),
    Row(
        "S1",
        SETS,
        when=lambda s: s.speculative_algorithm == "NEXTN",
        versions="..0.5.10",
        sets="speculative-algorithm",
        value="EAGLE",
        source=_SOURCE,
        order=8,
    ),
    Row(
        "S10",
        SETS,
        when=lambda s: eagle(s) and s.speculative_draft_model_path is None and built_in_draft(s),
        sets=("speculative-draft-model-path", "speculative-draft-model-revision"),
        value=lambda s: (s.model_path, s.revision if at_least(s, "0.5.8") else s.speculative_draft_model_revision),
        source=_SOURCE,
        order=34,
    ),
    Row(
        "S26",
        SETS,
        when=lambda s: bool(s.speculative_adaptive) and s.speculative_eagle_topk is None,
        versions="0.5.15..",
        sets="speculative-eagle-topk",
        value=1,
        source=_SOURCE,
        order=18,
    ),
    Row(
        "S26",
        SETS,
        when=lambda s: bool(s.speculative_adaptive) and s.speculative_num_steps is None and s.speculative_adaptive_config is None,
        versions="0.5.15..",
        sets="speculative-num-steps",
        value=3,
        source="srt/speculative/adaptive_spec_params.py: the middle of all candidates",
        order=18,
    ),
    Row(
        "S26",
        SETS,
        when=lambda s: bool(s.speculative_adaptive),
        versions="0.5.15..",
        sets="speculative-num-draft-tokens",
        value=lambda s: s.speculative_num_steps + 1,
        source=_SOURCE,
        order=20,
    ),
    Row(
        "S3",
        SETS,
        when=undecided,
        sets=("speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens"),
        value=parameters,
        source=_SOURCE,
        order=42,
    ),
    Row(
        "S4",
        SETS,
        when=lambda s: chain_tokens_differ(s) and not s.given("speculative-num-draft-tokens"),
        sets="speculative-num-draft-tokens",
        value=lambda s: s.speculative_num_steps + 1,
        source=_SOURCE,
        order=54,
    ),
    Row(
        "S14",
        SETS,
        when=lambda s: algorithm(s) == "NGRAM",
        versions="0.5.5..",
        sets="speculative-eagle-topk",
        value=lambda s: s.speculative_ngram_max_bfs_breadth,
        source=_SOURCE,
        order=66,
    ),
    Row(
        "S14",
        SETS,
        when=lambda s: algorithm(s) == "NGRAM" and s.speculative_num_draft_tokens is None,
        versions="0.5.5..",
        sets="speculative-num-draft-tokens",
        value=lambda s: 12 if at_least(s, "0.5.10") else s.speculative_ngram_max_match_window_size,
        source=_SOURCE,
        order=68,
    ),
    Row(
        "S14",
        SETS,
        when=lambda s: algorithm(s) == "NGRAM" and s.speculative_num_steps is None,
        versions="0.5.15..",
        sets="speculative-num-steps",
        value=lambda s: s.speculative_num_draft_tokens // s.speculative_eagle_topk,
        source=_SOURCE,
        order=70,
    ),
    Row(
        "S20",
        SETS,
        when=lambda s: algorithm(s) in ("DFLASH", "DSPARK"),
        versions="0.5.12..",
        sets=("speculative-num-steps", "speculative-eagle-topk"),
        value=(1, 1),
        source=_SOURCE,
        order=31,
    ),
    Row(
        "S20",
        SETS,
        when=lambda s: algorithm(s) == "DFLASH" and s.speculative_dflash_block_size is not None,
        versions="0.5.12..",
        sets="speculative-num-draft-tokens",
        value=lambda s: s.speculative_dflash_block_size,
        source=_SOURCE,
        order=32,
    ),
    Row(
        "S20",
        SETS,
        when=lambda s: algorithm(s) == "DFLASH" and s.speculative_num_draft_tokens is None,
        versions="0.5.12..",
        sets="speculative-num-draft-tokens",
        value=lambda s: _forget("the draft's block size"),
        source=_SOURCE,
        order=33,
    ),
    Row(
        "S21",
        SETS,
        when=lambda s: algorithm(s) == "DSPARK" and s.speculative_num_draft_tokens is None,
        versions="0.5.18..",
        sets="speculative-num-draft-tokens",
        value=lambda s: s.speculative_dspark_block_size + 1 if s.speculative_dspark_block_size else _forget("the draft's gamma"),
        source=_SOURCE,
        order=33,
    ),
    Row(
        "S24",
        SETS,
        when=lambda s: s.speculative_use_block_verification and algorithm(s) in ("EAGLE", "EAGLE3"),
        versions="0.5.23..",
        sets="speculative-use-rejection-sampling",
        value=True,
        source=_SOURCE,
        order=13,
    ),
    Row(
        "S22",
        SETS,
        when=lambda s: algorithm(s) == "UNO" and (s.speculative_eagle_topk or 1) <= 1,
        versions="0.5.20..",
        sets=("speculative-num-steps", "speculative-eagle-topk"),
        value=(1, 1),
        source=_SOURCE,
        order=31,
    ),
    Row(
        "S29",
        SETS,
        when=lambda s: s.enable_return_aux_hidden_states,
        versions="0.5.23..",
        sets="speculative-algorithm",
        value=None,
        source="srt/arg_groups/validation_hook.py",
        step="early",
        order=12,
    ),
)
"""Rows that only fill in; what overrules or refuses a launch is in rules/speculative."""


def _forget(what: str) -> Any:
    raise Unknown(what)
