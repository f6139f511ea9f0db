"""What stands before a message: container and pod names, JSON wrappers, time stamps, and which rank speaks."""

from __future__ import annotations

import re

from preflight.records import NamedTuple

_COMPOSE = re.compile(r"([A-Za-z0-9][\w.-]*)\s*\| ")
_KUBECTL = re.compile(r"\[((?:pod|deployment|job|statefulset)/[^\]\s]+)\] ")
_RANK = re.compile(r"\[(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:[.,]\d+)?((?: [A-Z_]+\d+)*)\]")
_WORKER = re.compile(r"\(((?:Engine|Worker|APIServer|ApiServer|VllmWorker|rank)[\w= ]*?),? ?pid[= ]\d+\)", re.I)


class Spoken(NamedTuple):
    """A message with who says it: `source` tells servers of one file apart, `rank` the processes of a server."""

    source: str
    rank: str
    text: str


def spoken(text: str) -> Spoken:
    if text.startswith("{") and text.endswith("}"):
        text = _unwrapped(text)
    source = ""
    named = _COMPOSE.match(text) or _KUBECTL.match(text)
    if named is not None:
        source, text = named[1], text[named.end() :]
    rank = _RANK.search(text, 0, 200)
    if rank is not None:
        return Spoken(source, rank[1].strip(), text[rank.end() :])
    worker = _WORKER.search(text, 0, 200)
    return Spoken(source, "" if worker is None or worker[1].lower().startswith("apis") else worker[1], text)


def _unwrapped(text: str) -> str:
    """The message in a JSON line of a container runtime or a JSON logger."""
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(data, dict):
        return text
    message = next((data[key] for key in ("log", "message", "msg") if isinstance(data.get(key), str)), text)
    return message.rstrip("\r\n") if isinstance(message, str) else text
