"""A draft tree needs single-token pages.

## What it does
Finds draft trees (`speculative-eagle-topk` above 1, NGRAM's breadth) over a paged KV cache, with an attention backend that
cannot branch inside a page.

## Why
The branches of a tree share a prefix that ends in the middle of a page. Only some backends copy that page for every
branch: flashinfer; fa3 since 0.5.8; triton since 0.5.15. For NGRAM it is flashinfer alone. The others refuse.

Up to 0.4.6 the tree was silently replaced by a chain; 0.4.10 does not test it.

## Fix
Unsafe: `page-size` 1 keeps the tree, top-k 1 keeps the pages, another backend keeps both.

## Source
sglang 0.5.9 srt/server_args.py; 0.5.23 srt/arg_groups/speculative_hook.py.
"""

from preflight.engines.sglang.facts import algorithm, at_least
from preflight.engines.sglang.speculative import eagle
from preflight.engines.steps import REFUSES, SETS, Row, Set, State, Topic

TOPIC = Topic("SPC003", "draft-tree-over-pages", "sglang", "speculative")

_SOURCE = "srt/arg_groups/speculative_hook.py"


def _branching(s: State) -> tuple[str, ...]:
    """The backends that branch inside a page."""
    if at_least(s, "0.5.15"):
        return ("flashinfer", "fa3", "triton")
    return ("flashinfer", "fa3") if at_least(s, "0.5.8") else ("flashinfer",)


ROWS = (
    Row(
        "S5",
        REFUSES,
        when=lambda s: (
            eagle(s) and (s.speculative_eagle_topk or 1) > 1 and s.page_size > 1 and s.attention_backend not in _branching(s)
        ),
        versions="0.5.2..",
        says=lambda s: (
            f"speculative-eagle-topk {s.speculative_eagle_topk} needs page-size 1 with {s.attention_backend}; here it is "
            f"{s.page_size}. Use page-size 1, top-k 1, or the attention backend {' or '.join(_branching(s))}."
        ),
        at="speculative-eagle-topk",
        fix=(Set("page-size", 1), Set("attention-backend", "flashinfer"), Set("speculative-eagle-topk", 1)),
        source=_SOURCE,
        order=58,
        bad="--attention-backend triton --page-size 64 --speculative-algorithm EAGLE --speculative-num-steps 3 "
        "--speculative-eagle-topk 4 --speculative-num-draft-tokens 8 --tp-size 8 @ 0.5.9 8x-h200 deepseek-v3",
        good="--page-size 1",
    ),
    Row(
        "S15",
        REFUSES,
        when=lambda s: (
            algorithm(s) == "NGRAM" and s.speculative_eagle_topk > 1 and s.page_size > 1 and s.attention_backend != "flashinfer"
        ),
        versions="0.5.5..",
        says="NGRAM drafts {speculative_eagle_topk} branches (speculative-ngram-max-bfs-breadth), which needs page-size 1 with "
        "{attention_backend}; here it is {page_size}. Use page-size 1 or the attention backend flashinfer.",
        at="page-size",
        fix=(Set("page-size", 1), Set("attention-backend", "flashinfer"), Set("speculative-ngram-max-bfs-breadth", 1)),
        source=_SOURCE,
        order=76,
        bad="--attention-backend triton --page-size 64 --speculative-algorithm NGRAM @ 0.5.9 8x-h100-80 llama-3.1-8b",
        good="--page-size 1",
    ),
    Row(
        "S5",
        SETS,
        when=lambda s: eagle(s) and s.page_size > 1 and (s.speculative_eagle_topk or 1) > 1,
        versions="..0.4.6",
        sets="speculative-eagle-topk",
        value=1,
        says="speculative-eagle-topk becomes 1, for page-size {page_size} is above 1.",
        source="srt/server_args.py",
        order=52,
    ),
)
