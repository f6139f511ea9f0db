"""Defaults that nothing else hangs on. Read in srt/server_args.py, 0.4.6.post5 to 0.5.23."""

from __future__ import annotations

from preflight.engines.steps import SETS, Row

ROWS = (
    Row(
        "X-sampling",
        SETS,
        when=lambda s: s.sampling_backend is None,
        sets="sampling-backend",
        value="flashinfer",
        source="srt/server_args.py, sampling handler",
        step="sampling",
    ),
    Row(
        "X-grammar",
        SETS,
        when=lambda s: s.grammar_backend is None,
        sets="grammar-backend",
        value="xgrammar",
        source="srt/server_args.py, grammar handler",
        step="grammar",
    ),
)
