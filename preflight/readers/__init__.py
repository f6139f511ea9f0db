"""Readers: bytes to launch sites. `reader_for` names the module that reads a file; its `read(document)` does it.

A reader is imported only when its kind comes up.
"""

from __future__ import annotations

import re

_ANCHOR = re.compile(r"sglang|vllm", re.I)
_FLAGS = re.compile(
    r"^[ \t]*(?:tensor[-_]parallel[-_]size|max[-_]model[-_]len|mem[-_]fraction[-_]static|tp[-_]size)[ \t]*:", re.M
)
_DOCKERFILE = re.compile(r"(?:dockerfile|containerfile)(?:$|[._-])|.*\.(?:dockerfile|containerfile)$")
_SHEBANG = re.compile(r"#![^\n]*\b(?:ba|da|z|k|a)?sh\b")

_BY_SUFFIX = {
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "slurm": "shell",
    "sbatch": "shell",
    "j2": "template",
    "jinja": "template",
    "tpl": "template",
    "tmpl": "template",
    "service": "units",
    "tf": "hcl",
    "mk": "makefile",
    "py": "python",
    "yaml": "manifest",
    "yml": "manifest",
}


def reader_for(path: str, text: str) -> str | None:
    """The module for a file of this path and text; None where it can hold no launch."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if suffix == "toml":
        return "preflight.readers.launch_file"
    kind = _BY_SUFFIX.get(suffix)
    if _DOCKERFILE.match(name):
        kind = "dockerfile"
    elif name in ("makefile", "gnumakefile"):
        kind = "makefile"
    if kind is None and _SHEBANG.match(text):
        kind = "shell"
    if kind is None or not (_ANCHOR.search(text) or _ANCHOR.search(name) or (kind == "manifest" and _FLAGS.search(text))):
        return None
    return "preflight.readers." + kind
