"""Regenerates what the documentation shows of the tool's own output.

python scripts/generate_docs.py           writes README.md
python scripts/generate_docs.py --check   fails where it is stale
"""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
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

    return _BLOCK.sub(block, text)


def main() -> int:
    os.chdir(ROOT)
    os.environ["NO_COLOR"] = "1"
    os.environ["COLUMNS"] = "100"
    stale = []
    for path in (ROOT / "README.md",):
        text = path.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    if stale:
        print(f"{'stale' if '--check' in sys.argv else 'rewritten'}: {', '.join(stale)}")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
