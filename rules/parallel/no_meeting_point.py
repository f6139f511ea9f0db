"""Several nodes, and no address where they meet.

## Why
The ranks of all nodes meet at `dist-init-addr`. Without it every node picks an address and a free port of its own, and all of
them wait for peers that never come.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.18"
flags = { tp-size = 16, nnodes = 2, node-rank = 0 }
```
```toml good
engine = "sglang"
engine-version = "0.5.18"
flags = { tp-size = 16, nnodes = 2, node-rank = 0, dist-init-addr = "10.0.0.1:5000" }
```

## Fix
None: the address is the first node's.

## Source
sglang 0.5.9 and 0.5.23 srt/server_args.py PortArgs, srt/distributed/parallel_state.py.
"""

from preflight.engines.steps import DIES, Row, Topic

TOPIC = Topic("PAR021", "nodes-without-meeting-point", "sglang", "init")

ROWS = (
    Row(
        "nnodes",
        DIES,
        when=lambda s: (s.nnodes or 1) > 1 and s.dist_init_addr is None and not s.use_ray,
        says="nnodes {nnodes} without dist-init-addr: every node waits at an address of its own. Give all of them the first "
        "node's address and port.",
        at="nnodes",
        stage="init",
        source="srt/server_args.py PortArgs",
        bad="--tp-size 16 --nnodes 2 --node-rank 0 @ 0.5.18",
        good="--dist-init-addr 10.0.0.1:5000",
    ),
)
