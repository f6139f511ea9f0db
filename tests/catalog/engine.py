"""Small made-up releases of the engine, as wheels."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

SERVER_ARGS = "sglang/srt/server_args.py"


def wheel(folder: Path, version: str, files: Mapping[str, str]) -> Path:
    path = folder / f"sglang-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"sglang-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n")
        for name, text in files.items():
            archive.writestr(name, dedent(text))
    return path
