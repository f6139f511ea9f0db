"""Expert balancing has nothing to balance.

## What it does
Finds `enable-eplb` without expert parallelism, dispatch algorithms that need an all-to-all backend, and elastic EP with an
algorithm that it does not know.

## Why
EPLB moves experts between ranks, so it needs `ep-size` above 1; the check is a bare assertion. Without an all-to-all backend
every rank routes the same tokens and sums up, so all must pick the same copy of an expert: since 0.5.18 that is the
dynamic algorithm only. Elastic EP needs an algorithm that knows which ranks are alive, and one pipeline stage.

## Fix
Unsafe: expert parallelism changes the memory of every rank.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/parallel_hook.py.
"""

from preflight.engines.sglang.facts import at_least, attention_dp, decode_graph_enabled, dp_attention, prefill_graph_enabled
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("MOE007", "expert-balancing", "sglang", "eplb")

_SOURCE = "srt/arg_groups/parallel_hook.py"


def _alive_algorithms(s: State) -> tuple[str, ...]:
    more = ("elasticity_aware_hierarchical",) if at_least(s, "0.5.10") else ()
    return ("elasticity_aware", *more)


def _growth_fault(s: State) -> str | None:
    """What elastic EP needs to grow, in upstream's order as far as it needs no model."""
    if s.elastic_ep_join_rank_offset and s.elastic_ep_join_mode != "scale":
        return "elastic-ep-join-rank-offset needs elastic-ep-join-mode scale"
    grows = s.elastic_ep_backend is not None and s.max_ep_size is not None and s.max_ep_size > s.tp_size
    if not grows:
        return None if s.elastic_ep_initial_size is None else "elastic-ep-initial-size needs max-ep-size above tp-size"
    if s.tp_size > (attention_dp(s) if dp_attention(s) else 1) * (s.attn_cp_size or 1) and _dense(s):
        return "Growing elastic EP needs moe-dense-tp-size 1 where attention is split over GPUs"
    if s.tokenizer_worker_num != 1:
        return "Growing elastic EP needs tokenizer-worker-num 1"
    if s.use_ray or s.enable_elastic_expert_backup:
        return "Growing elastic EP works neither with use-ray nor with enable-elastic-expert-backup"
    if s.elastic_ep_join_mode != "scale" and s.elastic_ep_initial_size not in (None, s.tp_size):
        return f"elastic-ep-initial-size must be tp-size, {s.tp_size}, on the first server"
    if s.load_balance_method != "round_robin":
        return f"Growing elastic EP needs load-balance-method round_robin, not {s.load_balance_method}"
    if s.elastic_ep_backend != "mooncake":
        return f"Growing elastic EP needs elastic-ep-backend mooncake, not {s.elastic_ep_backend}"
    if decode_graph_enabled(s) and not at_least(s, "0.5.23"):
        return "Growing elastic EP needs disable-cuda-graph"
    return "Growing elastic EP needs cuda-graph-backend-prefill disabled" if prefill_graph_enabled(s) else None


def _dense(s: State) -> bool:
    return at_least(s, "0.5.23") and s.moe_dense_tp_size != 1


ROWS = (
    Row(
        "E18",
        REFUSES,
        when=lambda s: s.enable_eplb and s.ep_size <= 1 and s.elastic_ep_join_mode != "scale",
        versions="0.5.2..",
        says="enable-eplb needs ep-size above 1, and it is {ep_size}: SGLang stops at a bare "
        "assertion. Set ep-size, or leave it out.",
        at="enable-eplb",
        fix=(Set("ep-size", lambda s: s.tp_size), Set("enable-eplb", None)),
        source=_SOURCE,
        order=30,
        bad="--enable-eplb --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--ep-size 8",
    ),
    Row(
        "E18",
        REFUSES,
        when=lambda s: s.enable_eplb and not (s.enable_ep_moe or s.enable_deepep_moe),
        versions="0.4.10..0.4.10",
        says="enable-eplb needs enable-ep-moe or enable-deepep-moe. Add one.",
        at="enable-eplb",
        fix=(Set("enable-ep-moe", True), Set("enable-eplb", None)),
        source="srt/server_args.py",
        order=30,
    ),
    Row(
        "E19",
        REFUSES,
        when=lambda s: s.ep_dispatch_algorithm in ("static", "lp") and s.moe_a2a_backend == "none",
        versions="0.5.18..",
        says="ep-dispatch-algorithm {ep_dispatch_algorithm} picks another copy of an expert on every rank, which needs an "
        "all-to-all backend. Use dynamic.",
        at="ep-dispatch-algorithm",
        fix=(Set("ep-dispatch-algorithm", "dynamic"),),
        source=_SOURCE,
        order=20,
        bad="--enable-eplb --ep-size 8 --ep-dispatch-algorithm static --tp-size 8 @ 0.5.23 8x-h200 deepseek-v3",
        good="--ep-dispatch-algorithm dynamic",
    ),
    Row(
        "E20",
        REFUSES,
        when=lambda s: (
            s.elastic_ep_backend is not None and bool(s.enable_eplb) and s.eplb_algorithm not in ("auto", *_alive_algorithms(s))
        ),
        versions="0.5.5..",
        says="Elastic EP needs eplb-algorithm elasticity_aware, not {eplb_algorithm}. Use auto.",
        at="eplb-algorithm",
        fix=(Set("eplb-algorithm", "auto"),),
        source=_SOURCE,
        step="elastic",
        order=20,
    ),
    Row(
        "E20",
        REFUSES,
        when=lambda s: s.elastic_ep_backend is not None and s.pp_size != 1,
        versions="0.5.12..",
        says="Elastic EP needs pp-size 1, not {pp_size}.",
        at="elastic-ep-backend",
        fix=(Set("pp-size", 1), Set("elastic-ep-backend", None)),
        source=_SOURCE,
        step="elastic",
        order=22,
    ),
    Row(
        "E21",
        REFUSES,
        when=lambda s: (
            s.elastic_ep_backend is None
            and (s.elastic_ep_join_mode is not None or s.max_ep_size is not None or bool(s.elastic_ep_rejoin))
        ),
        versions="0.5.12..",
        says="The elastic-ep flags need elastic-ep-backend. Give it, or leave them out.",
        at="elastic-ep-join-mode",
        fix=(Set("elastic-ep-backend", "mooncake"),),
        source=_SOURCE,
        step="elastic",
        order=24,
    ),
    Row(
        "E21-growth",
        REFUSES,
        when=lambda s: _growth_fault(s) is not None,
        versions="0.5.18..",
        says=lambda s: f"{_growth_fault(s)}.",
        at="max-ep-size",
        fix=(Set("max-ep-size", None), Set("elastic-ep-initial-size", None)),
        source=_SOURCE,
        step="elastic",
        order=26,
    ),
)
