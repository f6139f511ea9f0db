"""Make recorded/parsers.json from dumps of the real parsers: python tests/catalog/record.py flags-0.5.9.json …

A dump is what the oracle's `--flags` prints for one version, in a file named flags-VERSION.json. Kept are names, arity,
choices, defaults and the like; each distinct row once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FIELDS = ("flags", "dest", "action", "type", "nargs", "choices", "default", "required", "hidden")


def main(paths: list[str]) -> None:
    rows: dict[str, int] = {}
    versions: dict[str, list[int]] = {}
    for path in sorted(paths):
        version = Path(path).stem.removeprefix("flags-")
        dump = json.loads(Path(path).read_text(encoding="utf-8"))
        kept = [json.dumps([row[field] for field in FIELDS], separators=(",", ":")) for row in dump]
        versions[version] = [rows.setdefault(row, len(rows)) for row in kept]
    body = ",\n".join(rows)
    text = f'{{"fields":{json.dumps(FIELDS)},\n"versions":{json.dumps(versions)},\n"rows":[\n{body}\n]}}\n'
    (Path(__file__).parent / "recorded" / "parsers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
