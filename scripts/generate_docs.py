"""Regenerates what the documentation shows of the tool's own output.

python scripts/generate_docs.py           writes README.md and docs/rules/
python scripts/generate_docs.py --check   fails where it is stale
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
RULE_PAGES = ROOT / "docs" / "rules"
_BLOCK = re.compile(r"<!-- begin: preflight (?P<command>[^\n]*) -->\n(?P<body>.*?)<!-- end -->", re.S)


def output(command: str) -> str:
    """What `preflight COMMAND` prints, run in the repository's root."""
    from preflight.cli import main

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        main(command.split())
    return out.getvalue()


def filled(text: str) -> str:
    """`text` with every block replaced by the present output of its command."""

    def block(match: re.Match[str]) -> str:
        lines = [line.rstrip() for line in output(match["command"]).strip("\n").split("\n")]
        body = "\n".join(lines)
        return f"<!-- begin: preflight {match['command']} -->\n```text\n{body}\n```\n<!-- end -->"

    text = _BLOCK.sub(block, text)
    for name, body in (("benchmark", _benchmark()), ("accuracy", _accuracy())):
        before, begin, rest = text.partition(f"<!-- begin: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{begin}{body}\n{end}{after}" if begin else text
    return text


def _benchmark() -> str:
    """The figures that `scripts/benchmark.py --write` kept."""
    figures = json.loads((ROOT / "docs" / "benchmark.json").read_text(encoding="utf-8"))
    rows = [f"| `{row['command']}` | {row['cpu_ms']} | {row['ratio']:.2f} |" for row in figures["commands"]]
    many = figures["thousand_files"]
    return "\n".join(
        [
            "| cold, one file | CPU ms | preflight takes that times |",
            "| --- | ---: | ---: |",
            *rows,
            "",
            f"1,000 launch files, each with a finding and its fix proved: {many['wall_s']} s on {figures['processors']} "
            f"processors, {many['peak_mib']} MiB a process. Python {figures['python']}, medians of {figures['runs']} runs in "
            "turn (`python scripts/benchmark.py --write`).",
        ]
    )


def _accuracy() -> str:
    """The summary of docs/accuracy.md."""
    text = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    all_row = next(line for line in text.splitlines() if line.startswith("| **all** |"))
    boots, tokens, largest, rest, band, width = (cell.strip() for cell in all_row.strip("|").split("|")[1:7])
    return (
        f"Against {boots} public boots of SGLang, from the launch file alone: KV cache tokens off by {tokens} in the median, "
        f"{largest} at most; the memory left for them by {rest} of the GPU's; inside the shown band {band}, whose width is "
        f"{width} of the GPU's memory in the median. Most of these boots are of one release: "
        "[docs/accuracy.md](docs/accuracy.md) says what that proves and what not."
    )


def rule_pages() -> dict[Path, str]:
    """One page per rule, and their index."""
    from preflight.explain.rules import markdown, summary
    from preflight.registry import registry

    rules = registry()
    pages = {RULE_PAGES / f"{code}.md": markdown(rules, rule) for code, rule in rules.rules.items()}
    rows = [
        f"| [{code}]({code}.md) | {rule.name} | {rule.severity.word} | {rule.stage or ''} | {summary(rules, code)} |"
        for code, rule in rules.rules.items()
    ]
    head = "# Rules\n\nGenerated from the rules' own documentation by `python scripts/generate_docs.py`.\n\n"
    table = "| code | name | at worst | fails at | finds |\n| --- | --- | --- | --- | --- |\n"
    pages[RULE_PAGES / "README.md"] = head + table + "\n".join(rows) + "\n"
    return pages


def main() -> int:
    os.chdir(ROOT)
    os.environ["NO_COLOR"] = "1"
    os.environ["COLUMNS"] = "100"
    stale = []
    wanted = {ROOT / "README.md": filled((ROOT / "README.md").read_text(encoding="utf-8")), **rule_pages()}
    for path, new in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != new:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(new, encoding="utf-8")
    for path in sorted(set(RULE_PAGES.glob("*.md")) - set(wanted)):
        stale.append(path.name)
        if "--check" not in sys.argv:
            path.unlink()
    if stale:
        print(f"{'stale' if '--check' in sys.argv else 'rewritten'}: {', '.join(stale)}")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
