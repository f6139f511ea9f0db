"""The roles of prefill and decode servers contradict the launch.

## What it does
Finds PD flags that only the other role takes, tensor-parallel sizes that do not fit each other, and transfer backends that
a role does not work with.

## Why
Up to 0.5.9 a prefill server is told the decode side's sizes and cuts its KV heads accordingly, so one must divide the
other; a decode server must not be told. From 0.5.10 on they agree at connection, and a prefill server refuses the fake transfer
backend. In 0.5.8 and 0.5.9 round_robin on a prefill server means follow_bootstrap_room.

## Fix
Safe where the flag has one meaning only.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/pd_disaggregation_hook.py, serving_hook.py.
"""

from preflight.diagnostics import SAFE
from preflight.engines.sglang.facts import at_least, attention_dp, dp_attention
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("PAR042", "disaggregation-roles", "sglang", "disaggregation")

_SOURCE = "srt/arg_groups/pd_disaggregation_hook.py"


def _uneven(s: State) -> bool:
    if s.disaggregation_mode != "prefill" or s.disaggregation_decode_tp is None:
        return False
    sizes = sorted((s.tp_size, s.disaggregation_decode_tp))
    return bool(sizes[1] % sizes[0] != 0)


def _switch_fault(s: State) -> str | None:
    if not s.enable_pd_role_switch or s.disaggregation_mode not in ("prefill", "decode"):
        return None
    for name, plain in (("ep-size", 1), ("pp-size", 1), ("dcp-size", 1)):
        if (s.get(name) or 1) > plain:
            return f"{name} {s.get(name)}"
    if s.moe_a2a_backend != "none":
        return f"moe-a2a-backend {s.moe_a2a_backend}"
    return None if s.speculative_algorithm is None else f"{s.speculative_algorithm} speculation"


def _complete_fault(s: State) -> str | None:
    if s.disaggregation_decode_allocation_policy != "prefill_complete":
        return None
    if s.disaggregation_mode not in ("prefill", "decode"):
        return "needs a PD role"
    if s.disaggregation_transfer_backend != "mooncake":
        return f"does not work with the transfer backend {s.disaggregation_transfer_backend}"
    if (s.pp_size, s.attn_cp_size or 1, s.dcp_size or 1) != (1, 1, 1):
        return "does not work with pipeline or context parallelism"
    if s.tp_size != (attention_dp(s) if dp_attention(s) else 1):
        return "needs attention that is not split over GPUs"
    return None


ROWS = (
    Row(
        "D2",
        REFUSES,
        when=lambda s: (
            s.disaggregation_mode == "decode"
            and (s.disaggregation_decode_tp is not None or s.disaggregation_decode_dp is not None)
        ),
        versions="0.4.10..0.5.9",
        says="disaggregation-decode-tp and -dp tell a prefill server about decode servers; this one decodes. Leave them out.",
        at="disaggregation-decode-tp",
        fix=(Set("disaggregation-decode-tp", None, SAFE), Set("disaggregation-decode-dp", None, SAFE)),
        source="srt/server_args.py",
        order=10,
        bad="--disaggregation-mode decode --disable-radix-cache --disaggregation-decode-tp 2 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--no:disaggregation-decode-tp",
    ),
    Row(
        "D3",
        REFUSES,
        when=_uneven,
        versions="0.4.10..0.5.9",
        says="tp-size {tp_size} and disaggregation-decode-tp {disaggregation_decode_tp} do not "
        "divide each other. Use sizes that do.",
        at="disaggregation-decode-tp",
        fix=(Set("disaggregation-decode-tp", lambda s: s.tp_size),),
        source="srt/server_args.py",
        order=12,
        bad="--disaggregation-mode prefill --tp-size 4 --disaggregation-decode-tp 3 @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--disaggregation-decode-tp 2",
    ),
    Row(
        "D4",
        SETS,
        when=lambda s: s.load_balance_method == "auto",
        versions="0.5.8..",
        sets="load-balance-method",
        value=lambda s: "follow_bootstrap_room" if s.disaggregation_mode == "prefill" else "round_robin",
        source="srt/server_args.py",
        step="load-balance",
    ),
    Row(
        "D4",
        SETS,
        when=lambda s: (
            s.given("load-balance-method") and s.load_balance_method == "round_robin" and s.disaggregation_mode == "prefill"
        ),
        versions="0.5.8..0.5.9",
        sets="load-balance-method",
        value="follow_bootstrap_room",
        says="On a prefill server load-balance-method round_robin means follow_bootstrap_room. Write that.",
        fix=(Set("load-balance-method", "follow_bootstrap_room", SAFE),),
        source="srt/server_args.py",
        step="load-balance-early",
    ),
    Row(
        "D6",
        REFUSES,
        when=lambda s: s.disaggregation_mode == "prefill" and s.disaggregation_transfer_backend == "fake",
        versions="0.5.10..",
        says="A prefill server needs a real transfer backend, not fake. Use mooncake or nixl.",
        at="disaggregation-transfer-backend",
        fix=(Set("disaggregation-transfer-backend", None),),
        source=_SOURCE,
        order=40,
        bad="--disaggregation-mode prefill --disaggregation-transfer-backend fake @ 0.5.23 8x-h100-80 llama-3.1-8b",
        good="--disaggregation-transfer-backend nixl",
    ),
    Row(
        "D8",
        SETS,
        when=lambda s: s.disaggregation_transfer_backend == "mooncake_tcp",
        versions="0.5.15..",
        sets=("disaggregation-transfer-backend", "disaggregation-ib-device"),
        value=("mooncake", None),
        source=_SOURCE,
        order=5,
    ),
    Row(
        "D10",
        REFUSES,
        when=lambda s: (
            s.disaggregation_mode == "decode"
            and (s.dcp_size or 1) > 1
            and s.disaggregation_transfer_backend not in ("mooncake", "nixl", "mori", "ascend", "fake")
        ),
        versions="0.5.18..",
        says="dcp-size {dcp_size} on a decode server does not work with the transfer backend "
        "{disaggregation_transfer_backend}. Use mooncake or nixl.",
        at="disaggregation-transfer-backend",
        fix=(Set("disaggregation-transfer-backend", None),),
        source=_SOURCE,
        order=18,
    ),
    Row(
        "D11",
        REFUSES,
        when=lambda s: _complete_fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"disaggregation-decode-allocation-policy prefill_complete {_complete_fault(s)}.",
        at="disaggregation-decode-allocation-policy",
        fix=(Set("disaggregation-decode-allocation-policy", None),),
        source=_SOURCE,
        order=8,
    ),
    Row(
        "D12",
        REFUSES,
        when=lambda s: _switch_fault(s) is not None,
        versions="0.5.23..",
        says=lambda s: f"enable-pd-role-switch does not work with {_switch_fault(s)}. Leave one of the two out.",
        at="enable-pd-role-switch",
        fix=(Set("enable-pd-role-switch", None),),
        source=_SOURCE,
        order=50,
    ),
    Row(
        "D13",
        REFUSES,
        when=lambda s: (
            s.disaggregation_decode_host_receive_threshold is not None
            and not 0 <= s.disaggregation_decode_host_receive_threshold <= 1
        ),
        versions="0.5.23..",
        says="disaggregation-decode-host-receive-threshold must be a share from 0 to 1. Leave it out for the default.",
        at="disaggregation-decode-host-receive-threshold",
        fix=(Set("disaggregation-decode-host-receive-threshold", None),),
        source=_SOURCE,
        order=9,
    ),
    Row(
        "D13-backup",
        SETS,
        when=lambda s: (
            s.disaggregation_decode_host_receive_threshold is not None
            and 0 <= s.disaggregation_decode_host_receive_threshold < 1
            and s.disaggregation_decode_retraction_backup is None
        ),
        versions="0.5.23..",
        sets="disaggregation-decode-retraction-backup",
        value="host_pool",
        source=_SOURCE,
        order=10,
    ),
    Row(
        "D15",
        REFUSES,
        when=lambda s: (
            s.disaggregation_mode in ("prefill", "decode")
            and s.flag("SGLANG_DISAGG_STAGING_BUFFER")
            and s.disaggregation_transfer_backend not in (("mooncake", "nixl") if at_least(s, "0.5.12") else ("mooncake",))
        ),
        versions="0.5.10..",
        says="SGLANG_DISAGG_STAGING_BUFFER needs the transfer backend mooncake, not {disaggregation_transfer_backend}. Unset it.",
        at="disaggregation-transfer-backend",
        fix=(Set("disaggregation-transfer-backend", None),),
        source=_SOURCE,
        order=45,
    ),
    Row(
        "D21",
        SETS,
        when=lambda s: (s.optimistic_prefill_attempts or 0) > 0 and s.disaggregation_mode == "prefill" and s.pp_size > 1,
        versions="0.5.15..",
        sets="optimistic-prefill-attempts",
        value=0,
        says="Optimistic prefill is turned off with pipeline stages. Leave optimistic-prefill-attempts out.",
        fix=(Set("optimistic-prefill-attempts", None),),
        source="srt/arg_groups/serving_hook.py",
        step="other",
        order=10,
    ),
)
