"""Prefill context parallelism is asked for in a way that the release or the model does not support.

## What it does
Checks enable-prefill-cp and its older spellings against the strategy, the model, the parallel sizes and the role of
the server.

## Why
Context parallelism for prefill is written per model. It needs a strategy, and each model supports its own: DeepSeek
V3.2 takes interleave, MiMo-V2 zigzag. It works on one node, and on prefill servers only. What it needs it also sets:
attention groups, expert parallelism, and the way the chunk is split.

## Source
sglang 0.5.9 to 0.5.12 srt/server_args.py, model-specific handler; 0.5.15 to 0.5.23 `_handle_context_parallelism`
(srt/arg_groups/parallel_hook.py) and srt/arg_groups/model_overrides/deepseek_v2.py.
"""

from preflight.engines.sglang.attention import DEEPSEEK_FAMILY
from preflight.engines.sglang.facts import at_least, is_dsa, is_mla
from preflight.engines.steps import MODEL_OVERRIDE, REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR012", "prefill-context-parallel", "sglang", "model")
_STRATEGIES = {"in-seq-split": "zigzag", "round-robin-split": "interleave"}
_MIMO = ("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM")
_MODEL = "srt/server_args.py, model-specific handler"
_CHECK = "srt/arg_groups/parallel_hook.py handle_context_parallelism"


def _old(s: State) -> bool:
    """0.5.8 to 0.5.12: the DSA flag on a DSA model."""
    return bool(s.enable_dsa_prefill_context_parallel) and s.model.architecture in DEEPSEEK_FAMILY and is_dsa(s)


def _in_sequence(s: State) -> bool:
    return bool(s.dsa_prefill_cp_mode == "in-seq-split")


def _new_dsa(s: State) -> bool:
    return bool(s.enable_prefill_cp) and s.model.architecture in DEEPSEEK_FAMILY and is_dsa(s)


def _new_mla(s: State) -> bool:
    return bool(s.enable_prefill_cp) and s.model.architecture in DEEPSEEK_FAMILY and not is_dsa(s) and is_mla(s)


def _groups(s: State) -> int:
    return max(1, int(s.attn_dp_size if at_least(s, "0.5.23") else s.dp_size))


ROWS = (
    Row(
        "P26",
        SETS,
        when=_old,
        versions="0.5.8..0.5.12",
        sets=("enable-dp-attention", "moe-dense-tp-size"),
        value=(True, 1),
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-cp",
        SETS,
        when=_old,
        versions="0.5.10..0.5.12",
        sets="attn-cp-size",
        value=lambda s: s.tp_size // _groups(s),
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-in-sequence",
        SETS,
        when=lambda s: _old(s) and _in_sequence(s),
        versions="0.5.8..0.5.12",
        sets=("moe-a2a-backend", "ep-size"),
        value=lambda s: ("deepep", s.tp_size),
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-dtype",
        SETS,
        when=lambda s: _old(s) and _in_sequence(s),
        versions="0.5.8..0.5.9",
        sets="kv-cache-dtype",
        value="bf16",
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-dp",
        REFUSES,
        when=lambda s: _old(s) and not _in_sequence(s) and s.dp_size != 1,
        versions="0.5.8..0.5.12",
        says="round-robin-split context parallelism needs dp-size 1; here it is {dp_size}. Set dp-size to 1, or use "
        "in-seq-split.",
        at="dp-size",
        fix=(Set("dp-size", 1),),
        source=_MODEL,
        order=11,
    ),
    Row(
        "P26-tp",
        REFUSES,
        when=lambda s: _old(s) and s.tp_size != 8,
        versions="0.5.8..0.5.10",
        says="Prefill context parallelism works with tp-size 8 only in this release; here it is {tp_size}.",
        at="tp-size",
        fix=(Set("tp-size", 8),),
        source=_MODEL,
        order=11,
    ),
    Row(
        "P26-node",
        REFUSES,
        when=lambda s: (_old(s) if not at_least(s, "0.5.15") else _new_dsa(s)) and s.tp_size > 8,
        versions="0.5.12..",
        says="Prefill context parallelism works within one node: tp-size is {tp_size}, above 8. Lower it.",
        at="tp-size",
        fix=(Set("tp-size", 8),),
        source=_MODEL,
        order=11,
    ),
    Row(
        "P27",
        REFUSES,
        when=lambda s: (_old(s) if not at_least(s, "0.5.15") else _new_dsa(s)) and s.disaggregation_mode == "decode",
        versions="0.5.8..",
        says="Prefill context parallelism does nothing on a decode server and is refused there. Take it out.",
        at="disaggregation-mode",
        source=_MODEL,
        order=12,
    ),
    Row(
        "P23-old",
        SETS,
        when=lambda s: s.enable_prefill_context_parallel or s.enable_dsa_prefill_context_parallel,
        versions="0.5.15..0.5.18",
        sets="enable-prefill-cp",
        value=True,
        source="srt/server_args.py _handle_legacy_cp_arguments",
        step="early",
    ),
    Row(
        "P23-mode",
        SETS,
        when=lambda s: s.cp_strategy is None and (s.enable_prefill_context_parallel or s.enable_dsa_prefill_context_parallel),
        versions="0.5.15..0.5.18",
        sets="cp-strategy",
        value=lambda s: _STRATEGIES.get(str(s.prefill_cp_mode if s.enable_prefill_context_parallel else s.dsa_prefill_cp_mode)),
        source="srt/server_args.py _handle_legacy_cp_arguments",
        step="early",
    ),
    Row(
        "P26-new",
        SETS,
        when=lambda s: _new_dsa(s) or _new_mla(s),
        versions="0.5.15..0.5.20",
        sets=("enable-dp-attention", "moe-dense-tp-size", "attn-cp-size"),
        value=lambda s: (True, 1, s.tp_size // _groups(s)),
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-newest",
        SETS,
        when=lambda s: _new_dsa(s) or _new_mla(s),
        versions="0.5.23..",
        sets="attn-cp-size",
        value=lambda s: (
            s.attn_cp_size if _new_dsa(s) and s.cp_strategy == "interleave" and s.attn_cp_size > 1 else s.tp_size // _groups(s)
        ),
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-experts",
        SETS,
        when=lambda s: _new_mla(s) or (_new_dsa(s) and s.cp_strategy == "zigzag"),
        versions="0.5.15..",
        sets=("moe-dense-tp-size", "moe-a2a-backend", "ep-size"),
        value=lambda s: (1, "deepep", s.tp_size),
        origin=MODEL_OVERRIDE,
        source=_MODEL,
        order=10,
    ),
    Row(
        "P26-interleave",
        REFUSES,
        when=lambda s: _new_dsa(s) and s.cp_strategy != "zigzag" and s.dp_size != 1,
        versions="0.5.15..0.5.20",
        says="cp-strategy interleave needs dp-size 1; here it is {dp_size}. Set it to 1.",
        at="dp-size",
        fix=(Set("dp-size", 1),),
        source=_MODEL,
        order=11,
    ),
    Row(
        "P23",
        REFUSES,
        when=lambda s: s.enable_prefill_cp and s.cp_strategy is None,
        versions="0.5.15..",
        says="enable-prefill-cp needs a cp-strategy, zigzag or interleave. Add one that the model supports.",
        at="enable-prefill-cp",
        fix=(Set("cp-strategy", "interleave"), Set("enable-prefill-cp", None)),
        source=_CHECK,
        bad="--tp-size 8 --enable-prefill-cp @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:enable-prefill-cp",
        step="context-parallel",
        order=20,
    ),
    Row(
        "P25",
        REFUSES,
        when=lambda s: s.enable_prefill_cp and s.cp_strategy == "zigzag" and s.model.architecture == "DeepseekV32ForCausalLM",
        versions="0.5.20..",
        says="DeepSeek V3.2 does not support cp-strategy zigzag. Use interleave.",
        at="cp-strategy",
        fix=(Set("cp-strategy", "interleave"),),
        source=_CHECK,
        step="context-parallel",
        order=19,
    ),
    Row(
        "P25-mimo",
        REFUSES,
        when=lambda s: s.enable_prefill_cp and s.cp_strategy != "zigzag" and s.model.architecture in _MIMO,
        versions="0.5.20..",
        says="MiMo-V2 supports cp-strategy zigzag only. Set it.",
        at="cp-strategy",
        fix=(Set("cp-strategy", "zigzag"),),
        source=_CHECK,
        step="context-parallel",
        order=19,
    ),
    Row(
        "P28-both",
        REFUSES,
        when=lambda s: s.dcp_size > 1 and s.enable_prefill_cp,
        versions="0.5.23..",
        says="dcp-size {dcp_size} does not work with enable-prefill-cp. Take one of them out.",
        at="dcp-size",
        fix=(Set("dcp-size", 1), Set("enable-prefill-cp", None)),
        source="srt/arg_groups/parallel_hook.py handle_decode_context_parallelism",
        bad="--tp-size 8 --dcp-size 2 --enable-prefill-cp --cp-strategy interleave @ 0.5.23 8x-h200 deepseek-v3",
        good="--dcp-size 1",
        step="decode-context-parallel",
    ),
)
