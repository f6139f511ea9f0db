"""Multimodal settings are not understood.

## What it does
Finds modalities other than image, video and audio, and ways of passing features on that the launch cannot use.

## Why
Limits and processor settings are given by modality, as JSON objects. Passing features through CUDA IPC stays within one node, and
through VMM within one pipeline stage. `mm-enable-dp-encoder` spreads an encoder over GPUs: with one there is nothing to
spread.

## Fix
Unsafe: the settings say what is meant.

## Source
sglang 0.5.8 to 0.5.18 srt/server_args.py; 0.5.23 srt/arg_groups/serving_hook.py.
"""

from preflight.engines.steps import REFUSES, WARNS, Row, Set, State, Topic

TOPIC = Topic("FLG044", "multimodal-settings", "sglang", "serving")

_MODALITIES = ("image", "video", "audio")
_SOURCE = "srt/arg_groups/serving_hook.py"


def _strange(s: State) -> str | None:
    limits = s.limit_mm_data_per_request
    if not isinstance(limits, dict):
        return None
    return next((name for name in limits if name not in _MODALITIES), None)


def _not_a_table(s: State) -> bool:
    config = s.mm_process_config
    if config is None:
        return False
    return not isinstance(config, dict) or any(not isinstance(config[name], dict) for name in _MODALITIES if name in config)


ROWS = (
    Row(
        "V1",
        REFUSES,
        when=lambda s: _strange(s) is not None,
        versions="0.5.8..",
        says=lambda s: f"limit-mm-data-per-request knows image, video and audio, not {_strange(s)}. Use one of these.",
        at="limit-mm-data-per-request",
        fix=(Set("limit-mm-data-per-request", None),),
        source=_SOURCE,
        step="other",
        order=60,
        bad="--limit-mm-data-per-request '{\"picture\":1}' @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:limit-mm-data-per-request",
    ),
    Row(
        "V3",
        REFUSES,
        when=_not_a_table,
        versions="0.5.12..",
        says='mm-process-config must be a JSON object of objects by modality. Write {{"image": {{…}}}}.',
        at="mm-process-config",
        fix=(Set("mm-process-config", None),),
        source=_SOURCE,
        order=10,
        bad="--mm-process-config '{\"image\":1}' @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:mm-process-config",
    ),
    Row(
        "V4",
        REFUSES,
        when=lambda s: s.mm_feature_transport == "cuda_ipc" and s.nnodes > 1 and not s.encoder_only,
        versions="0.5.18..",
        says="mm-feature-transport cuda_ipc stays within one node, but nnodes is {nnodes}. Use cpu.",
        at="mm-feature-transport",
        fix=(Set("mm-feature-transport", "cpu"),),
        source=_SOURCE,
        step="environment",
        order=10,
    ),
    Row(
        "V4",
        REFUSES,
        when=lambda s: s.mm_feature_transport == "cuda_vmm" and s.pp_size > 1 and not s.encoder_only,
        versions="0.5.18..",
        says="mm-feature-transport cuda_vmm does not work with pp-size {pp_size}. Use cpu.",
        at="mm-feature-transport",
        fix=(Set("mm-feature-transport", "cpu"),),
        source=_SOURCE,
        step="environment",
        order=10,
    ),
    Row(
        "V6",
        WARNS,
        when=lambda s: s.mm_enable_dp_encoder and s.tp_size == 1,
        versions="0.5.23..",
        says="mm-enable-dp-encoder has nothing to spread the encoder over with tp-size 1. Leave it out.",
        at="mm-enable-dp-encoder",
        fix=(Set("mm-enable-dp-encoder", None),),
        source="srt/arg_groups/model_hook.py",
        step="model",
    ),
)
