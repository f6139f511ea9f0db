"""Readers: bytes to launch sites. `reader_for` names the module that reads a file; its `read(document)` does it.

A reader is imported only when its kind comes up.
"""

from __future__ import annotations

import re

_FLAGS = re.compile(
    r"^[ \t]*(?:tensor[-_]parallel[-_]size|max[-_]model[-_]len|mem[-_]fraction[-_]static|tp[-_]size)[ \t]*:", re.M
)
_DOCKERFILE = re.compile(r"(?:dockerfile|containerfile)(?:$|[._-])|[^/]*\.(?:dockerfile|containerfile)$")
_SHEBANG = re.compile(r"#![^\n]*\b(?:ba|da|z|k|a)?sh\b")

_BY_SUFFIX = {
    "toml": "launch_file",
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


def kind_of_name(name: str) -> str | None:
    """The reader that a file's name calls for; "" where its first line decides; None where it is of no kind that is read."""
    name = name.lower()
    if _DOCKERFILE.match(name):
        return "dockerfile"
    if name in ("makefile", "gnumakefile"):
        return "makefile"
    return _BY_SUFFIX.get(name.rpartition(".")[2]) if "." in name else ""


def reader_for(path: str, text: str) -> str | None:
    """The module for a file of this path and text; None where it can hold no launch."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    kind = kind_of_name(name)
    if not kind and _SHEBANG.match(text):
        kind = "shell"
    if not kind:
        return None
    anchored = kind == "launch_file" or any("sglang" in where or "vllm" in where for where in (text, name))
    if not anchored and not (kind == "manifest" and _FLAGS.search(text)):
        return None
    return "preflight.readers." + kind
