"""What the `#SBATCH` lines of a batch job ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from preflight.readers.counts import count
from preflight.text import Located

if TYPE_CHECKING:
    from preflight.readers.shell import Context

_LINE = re.compile(r"^#SBATCH[ \t]+([^\n\r]*)", re.M)
_OPTION = re.compile(r"(--[a-z-]+|-[A-Za-z])[= \t]+([^\s#]+)")
_GRES = re.compile(r"gpu(?::([A-Za-z][\w.-]*))?:(\d+)")
_PER_NODE = re.compile(r"(?:([A-Za-z][\w.-]*):)?(\d+)\Z")


def batch_context(context: Context) -> Context:
    """GPUs per node, their type, and nodes."""
    document = context.document
    gpus = context.gpus
    hardware = dict(context.hardware)
    for line in _LINE.finditer(document.text):
        for option in _OPTION.finditer(line.group(1)):
            name, value = option.groups()
            start = line.start(1) + option.start(2)
            match = None
            if name == "--gres":
                match = _GRES.search(value)
            elif name == "--gpus-per-node":
                match = _PER_NODE.match(value)
            elif name in ("--nodes", "-N") and (number := count(value)) is not None:
                hardware["nodes"] = Located(number, document.place(start, start + len(value)))
            if match is not None and (number := count(match.group(2))) is not None:
                gpus = Located(number, document.place(start + match.start(2), start + match.end(2)))
                if match.group(1):
                    hardware["gpu"] = Located(match.group(1), document.place(start + match.start(1), start + match.end(1)))
    return context._replace(gpus=gpus, hardware=hardware, kind="slurm")
