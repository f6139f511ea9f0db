"""The page size does not fit the chunks of a recurrent model.

## What it does
Checks page-size and the tracking interval of models with a recurrent state against each other.

## Why
The state of a recurrent layer is saved at chunk borders of 64 tokens (more where the model says so). With the extra
buffer for prefix caching a page must be a multiple of a chunk or the other way round, and the tracking interval a
multiple of the page.

## Source
sglang 0.5.9 to 0.5.18 srt/server_args.py `_handle_mamba_radix_cache`; 0.5.20 and 0.5.23 srt/arg_groups/overrides.py
`mamba_cache_chunk_size`, mamba_hook.py.
"""

from preflight.engines.sglang.facts import recurrent, splits
from preflight.engines.steps import REFUSES, Row, Set, State, Topic

TOPIC = Topic("ATT021", "recurrent-chunk-and-page", "sglang", "model")
_CHUNK = 64


def _buffered(s: State) -> bool:
    return str(s.mamba_radix_cache_strategy).startswith("extra_buffer") and not s.disable_radix_cache and recurrent(s)


ROWS = (
    Row(
        "C14",
        REFUSES,
        when=lambda s: (
            s.page_size is not None and _buffered(s) and max(_CHUNK, s.page_size) % max(1, min(_CHUNK, s.page_size)) != 0
        ),
        versions="0.5.9..",
        says="page-size {page_size} and the recurrent chunk of 64 tokens do not divide. Use a page-size of 1, 2, 4, … 64 or a "
        "multiple of 64.",
        at="page-size",
        fix=(Set("page-size", 64),),
        source="srt/server_args.py _handle_mamba_radix_cache",
        order=56,
    ),
    Row(
        "C14-interval",
        REFUSES,
        when=lambda s: s.page_size is not None and _buffered(s) and not splits(s.mamba_track_interval, s.page_size),
        versions="0.5.9..",
        says="mamba-track-interval {mamba_track_interval} is not a multiple of page-size {page_size}. Use a multiple.",
        at="mamba-track-interval",
        fix=(Set("mamba-track-interval", lambda s: max(s.page_size, s.mamba_track_interval // s.page_size * s.page_size)),),
        source="srt/server_args.py _handle_mamba_radix_cache",
        order=56,
    ),
)
