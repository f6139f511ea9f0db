"""Write the JSON Schemas into a folder, by default schemas/ of a checkout."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from preflight.schema.comparison import diff_output_schema
from preflight.schema.inputs import launch_schema, settings_schema
from preflight.schema.outputs import explain_output_schema, lint_output_schema

SCHEMAS = {
    "launch": launch_schema,
    "settings": settings_schema,
    "lint-output": lint_output_schema,
    "explain-output": explain_output_schema,
    "diff-output": diff_output_schema,
}


def schema_text(name: str) -> str:
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (folder / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "schemas")
