"""The address where the nodes meet has no port.

## What it does
Looks for a port in `dist-init-addr` of launches over several nodes or with attention replicas.

## Why
Ranks of several nodes and the processes of attention replicas meet at `dist-init-addr`, which is host and port. Without a port
the launch gets through all checks of its arguments and stops when the processes are to be connected. An IPv6 host stands in
brackets, and there is no scheme in front.

## Source
sglang 0.5.9 and 0.5.23 srt/server_args.py PortArgs; 0.5.9 srt/model_executor/model_runner.py.
"""

from preflight.engines.sglang.facts import dp_attention
from preflight.engines.steps import DIES, Row, State, Topic

TOPIC = Topic("PAR045", "meeting-point-without-port", "sglang", "init")


def _without_port(s: State) -> bool:
    address = s.dist_init_addr
    if address is None or ((s.nnodes or 1) < 2 and not dp_attention(s)):
        return False
    host, colon, port = str(address).rpartition(":")
    return not (colon and host and port.isdigit()) or "://" in host


ROWS = (
    Row(
        "N1",
        DIES,
        when=_without_port,
        says="dist-init-addr {dist_init_addr} is not a host with a port, where all nodes could meet. Write host:port.",
        at="dist-init-addr",
        stage="init",
        source="srt/server_args.py PortArgs",
        bad="--tp-size 16 --nnodes 2 --node-rank 0 --dist-init-addr head @ 0.5.9",
        good="--dist-init-addr head:5000",
    ),
)
