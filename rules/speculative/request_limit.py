"""Speculative decoding limits the running requests.

## What it does
Says when SGLang chooses `max-running-requests` because of speculative decoding.

## Why
With a speculative algorithm and no `max-running-requests`, SGLang takes 48, whatever the KV cache could hold. Further
requests wait in the queue. A server that is meant for more needs the number spelled out, and then more memory for
CUDA graphs and for the verified tokens of each request.

## Fix
Unsafe: 48 spelled out means the same; another number is a choice between concurrency and latency.

## Source
sglang 0.4.6 to 0.5.12 srt/server_args.py; 0.5.15 to 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.speculative import REQUESTS, limits_requests
from preflight.engines.steps import SETS, Row, Set, Topic

TOPIC = Topic("SPC001", "speculation-limits-requests", "sglang", "speculative")

ROWS = (
    Row(
        "S2",
        SETS,
        when=limits_requests,
        sets="max-running-requests",
        value=REQUESTS,
        says=f"With {{speculative_algorithm}} at most {REQUESTS} requests run at once, for max-running-requests is not given. "
        "Set it to serve more.",
        fix=(Set("max-running-requests", REQUESTS),),
        source="srt/arg_groups/speculative_hook.py",
        order=32,
        bad="--speculative-algorithm NGRAM @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--max-running-requests 128",
    ),
)
