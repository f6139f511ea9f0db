"""Whether a file is a boot log, by what its beginning says."""

from __future__ import annotations

from preflight.logs.lines import ANCHORS

HEAD = 1 << 20
"""Bytes looked at of a file that is not called a log."""


def holds_boot(path: str) -> bool:
    """Raises OSError. A file called .log or .out is looked through as a whole, any other only at its beginning."""
    whole = path.lower().endswith((".log", ".out"))
    with open(path, "rb") as file:
        held = b""
        seen = 0
        while block := file.read(HEAD):
            block = held + block
            if any(anchor in block for anchor in ANCHORS) or (seen == 0 and _is_utf_16(block)):
                return True
            held = block[-64:]
            seen += 1
            if not whole:
                return False
    return False


def _is_utf_16(block: bytes) -> bool:
    """Then the anchors are not written in their own bytes."""
    if block[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return False
    plain = block.replace(b"\0", b"")
    return any(anchor in plain for anchor in ANCHORS)
