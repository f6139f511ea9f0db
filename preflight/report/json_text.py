"""JSON that every reader accepts: ASCII, no NaN, no lone surrogates."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping


def dumps(value: object) -> str:
    """`value` (of plain types, figures finite) as indented JSON with a last line feed.

    ASCII, so that it passes through a stream of any encoding. A lone surrogate (an undecodable file name) becomes U+FFFD:
    strict readers refuse it.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    if not text.isascii():
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = json.dumps(json.loads(whole), indent=2)
    return text + "\n"


def plain(value: object) -> object:
    """What JSON can say of `value`: a figure that is not finite is unknown, other objects are their text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(item) for item in value)
    return str(value)
