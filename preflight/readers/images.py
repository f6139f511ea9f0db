"""What a container image says: the engine, its version, and whether its entrypoint is the server."""

from __future__ import annotations

import re

from preflight.launch import Token
from preflight.records import NamedTuple
from preflight.text import Located, Text

_VERSION = r"(\d+\.\d+\.\d+(?:\.?(?:post|rc|dev|a|b)\d+)*)"
_TAG = re.compile(r"v?" + _VERSION + r"(?![\d.]*\d{4})(?:$|[-_+@.])")
_EMBEDDED = re.compile(r"(sglang|vllm)[-_]?v?" + _VERSION)
_OTHER = re.compile(r"dynamo|llm-d|ray|router|lmcache|aibrix|production-stack|gateway|epp|sidecar|nixl|bench")
_PIN = re.compile(r"(sglang|vllm)(?:\[[^\]]*\])?==" + _VERSION + r"\Z")


class Image(NamedTuple):
    """`engine`: what an image of this name holds. `serves`: its entrypoint is the server, so a command is bare flags."""

    repository: str
    tag: str
    engine: str | None
    serves: bool


def parse_image(reference: str) -> Image:
    reference = reference.partition("@")[0]
    repository, colon, tag = reference.rpartition(":")
    if not colon or "/" in tag:
        repository, tag = reference, ""
    name = repository.rpartition("/")[2].lower()
    low = repository.lower()
    engine = None
    if not _OTHER.search(low):
        engine = "sglang" if "sglang" in low else "vllm" if "vllm" in low else None
    return Image(repository, tag, engine, "vllm-openai" in name)


def image_versions(token: Token) -> dict[str, Located[str]]:
    """The engine version that an image names, by its engine."""
    reference = token.value
    image = parse_image(reference) if reference else None
    if reference is None or image is None or image.engine is None:
        return {}
    match = _TAG.match(image.tag)
    embedded = _EMBEDDED.search(reference.lower())
    if embedded is not None and embedded.group(1) == image.engine:
        version, start = embedded.group(2), embedded.start(2)
    elif match is not None:
        version, start = match.group(1), len(image.repository) + 1 + match.start(1)
    else:
        return {}
    text = token.source or token.at
    if text.value == reference:
        return {image.engine: Located(version, text.place_of(start, start + len(version)))}
    return {image.engine: Located(version, token.at.place)}


def pinned_version(text: Text) -> tuple[str, Located[str]] | None:
    """`sglang[all]==0.5.2`, `vllm==0.8.5`: (engine, version)."""
    match = _PIN.match(text.value)
    if match is None:
        return None
    return match.group(1), Located(match.group(2), text.place_of(match.start(2), match.end(2)))


_MOVING = re.compile(r"(?:latest|dev|nightly|main|master|stable|edge|cu\d+|rocm)?(?:-(?!.*\d{6})[a-z\d.]+)*\Z", re.I)


def moves(reference: str) -> bool:
    """Whether an engine's image is named by a tag that is given to one image after another."""
    image = parse_image(reference)
    return image.engine is not None and "@" not in reference and _MOVING.match(image.tag) is not None
