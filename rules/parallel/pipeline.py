"""Pipeline parallelism does not go together with an option of the launch.

## What it does
Checks pp-size above 1 against speculative decoding, mixed chunks and free-slot delays, and says that the overlap
schedule is turned off.

## Why
Micro-batches travel from stage to stage, so what needs the last stage's result at once is not supported. Speculation
is refused up to 0.5.20; 0.5.23 allows EAGLE on a prefill server, or with SGLANG_ENABLE_PP_SPEC. The overlap schedule
is always off.

## Source
sglang srt/server_args.py `_handle_pipeline_parallelism` and `check_server_args`, 0.4.6.post5 to 0.5.18;
srt/arg_groups/validation_hook.py, 0.5.20 and 0.5.23.
"""

from preflight.engines.sglang.facts import algorithm
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR007", "pipeline-unsupported-option", "sglang", "checks")


def _speculation_refused(s: State) -> bool:
    """0.5.23: which speculation pipeline stages do not support."""
    name = algorithm(s)
    if name is None:
        return False
    relayed = s.flag("SGLANG_ENABLE_PP_SPEC")
    if name == "DSPARK":
        return bool(s.disaggregation_mode != "prefill" or relayed)
    if name not in ("EAGLE", "NEXTN") or s.enable_multi_layer_eagle:
        return True
    if relayed:
        return bool(s.disaggregation_mode != "null" or s.speculative_adaptive or s.attn_dp_size > 1)
    return bool(s.disaggregation_mode != "prefill")


ROWS = (
    Row(
        "P10",
        SETS,
        when=lambda s: s.pp_size > 1,
        sets="disable-overlap-schedule",
        value=True,
        says="pp-size {pp_size} turns the overlap schedule off: the CPU no longer prepares the next batch while the GPU works.",
        at="pp-size",
        fix=((Set("tp-size", lambda s: s.tp_size * s.pp_size), Set("pp-size", 1)),),
        source="srt/server_args.py _handle_pipeline_parallelism",
        bad="--tp-size 4 --pp-size 2 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--pp-size 1",
        step="pipeline",
    ),
    Row(
        "P11",
        REFUSES,
        when=lambda s: s.pp_size > 1 and s.speculative_algorithm is not None,
        versions="..0.5.20",
        says="speculative-algorithm {speculative_algorithm} does not work with pp-size {pp_size}. Take one of them out; tensor "
        "parallelism works with speculation.",
        at="speculative-algorithm",
        fix=(Set("speculative-algorithm", None), Set("pp-size", 1)),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 4 --pp-size 2 --speculative-algorithm NGRAM @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--pp-size 1",
    ),
    Row(
        "P11-role",
        REFUSES,
        when=lambda s: s.pp_size > 1 and _speculation_refused(s),
        versions="0.5.23..",
        says="speculative-algorithm {speculative_algorithm} does not work with pp-size {pp_size} here. Pipeline stages "
        "speculate with "
        "EAGLE, on a prefill server or with SGLANG_ENABLE_PP_SPEC=1.",
        at="speculative-algorithm",
        fix=(Set("speculative-algorithm", None), Set("pp-size", 1)),
        source="srt/arg_groups/validation_hook.py check_pipeline_parallel_compat",
        bad="--tp-size 4 --pp-size 2 --speculative-algorithm NGRAM @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--pp-size 1",
    ),
    Row(
        "P12",
        REFUSES,
        when=lambda s: s.pp_size > 1 and s.enable_mixed_chunk,
        versions="..0.5.10",
        says="enable-mixed-chunk does not work with pp-size {pp_size}. Take it out.",
        at="enable-mixed-chunk",
        fix=(Set("enable-mixed-chunk", None),),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 4 --pp-size 2 --enable-mixed-chunk @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:enable-mixed-chunk",
    ),
    Row(
        "P13",
        REFUSES,
        when=lambda s: s.pp_size > 1 and s.min_free_slots_delay is not None,
        versions="0.5.15..",
        says="min-free-slots-delay does not work with pp-size {pp_size}: the free slots of a micro-batch may never reach it. "
        "Take it "
        "out.",
        at="min-free-slots-delay",
        fix=(Set("min-free-slots-delay", None),),
        source="srt/arg_groups/validation_hook.py check_pipeline_parallel_compat",
        bad="--tp-size 4 --pp-size 2 --min-free-slots-delay 4 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--no:min-free-slots-delay",
    ),
    Row(
        "P14",
        REFUSES,
        when=lambda s: s.pp_max_micro_batch_size is not None and s.pp_max_micro_batch_size < 1,
        versions="0.5.12..",
        says="pp-max-micro-batch-size is {pp_max_micro_batch_size}. Use 1 or more, or leave it to the engine.",
        at="pp-max-micro-batch-size",
        fix=(Set("pp-max-micro-batch-size", None),),
        source="srt/server_args.py check_server_args",
        bad="--tp-size 4 --pp-size 2 --pp-max-micro-batch-size 0 @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--pp-max-micro-batch-size 8",
    ),
)
