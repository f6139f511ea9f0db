"""`explain` as one HTML page without scripts or outside resources."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
table{border-collapse:collapse;width:100%;margin:1rem 0}td,th{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #ddd}
td.n{text-align:right;font-variant-numeric:tabular-nums}.bar{background:#4c78a8;height:.8rem}.fails{color:#b00020}
"""
_MEMORY = (
    ("total", "GPU memory"),
    ("free_before_load", "free before loading"),
    ("weights", "weights"),
    ("draft_weights", "draft weights"),
    ("free_after_load", "free after loading"),
    ("reserved", "kept back"),
    ("rest", "rest for the KV cache"),
    ("kv_cache", "KV cache"),
    ("graphs", "CUDA graphs"),
)


def page(data: dict[str, Any]) -> str:
    """The launches of `explain.data.explain` as HTML."""
    body = "".join(_launch(launch) for launch in data["launches"])
    head = f'<meta charset="utf-8"><title>preflight explain</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _launch(launch: dict[str, Any]) -> str:
    title = f"{launch['path']}:{launch['line']}"
    total = launch["memory"]["total"] or launch["memory"]["free_before_load"]
    full = total["expected"] if total else 1.0
    memory = "".join(_row(name, launch["memory"][key], full) for key, name in _MEMORY if launch["memory"][key])
    rows = "".join(_row(f"{row['phase']}: {row['name']}", row["gib"], full) for row in launch["rows"])
    flags = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(str(flag['value']))}</td><td>{escape(flag['origin'])}</td></tr>"
        for name, flag in launch["flags"].items()
        if flag["origin"] != "engine-default" or "by" in flag
    )
    tokens = launch["kv"]["tokens"]
    pool = "unknown" if tokens is None else f"{tokens['expected']:,.0f} tokens"
    return (
        f"<h1>{escape(title)}</h1><p>{escape(launch['engine'])} {escape(str(launch['engine_version'] or ''))}: "
        f'<b class="{escape(launch["verdict"])}">{escape(launch["verdict"])}</b>, KV cache {pool}</p>'
        f"<h2>Memory, GiB per GPU</h2><table>{memory}</table><h2>Rows</h2><table>{rows}</table>"
        f"<h2>Settings</h2><table>{flags}</table>"
    )


def _row(name: str, value: dict[str, float], full: float) -> str:
    width = min(100.0, max(0.0, value["expected"] / full * 100)) if full else 0.0
    return (
        f'<tr><td>{escape(name)}</td><td class="n">{value["expected"]:.2f}</td>'
        f'<td class="n">{value["low"]:.2f} to {value["high"]:.2f}</td>'
        f'<td style="width:40%"><div class="bar" style="width:{width:.1f}%"></div></td></tr>'
    )
