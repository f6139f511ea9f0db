"""How GPUs and ports are asked for: `--gpus`, device reservations, published ports."""

from __future__ import annotations

import re

from preflight.readers.counts import count, whole
from preflight.text import Located, Place

_NAMED_DEVICES = re.compile(r"device=[\"']?(\d+(?:,\d+)*)")


def device_count(text: str, place: Place) -> Located[int] | None:
    """`all` is unknown, `4` is 4, `"device=0,1"` is 2, `count=2` is 2."""
    text = text.strip("\"'")
    number = count(text)
    if number is not None:
        return Located(number, place)
    for part in re.split(r",(?=[a-z])", text):
        key, equals, value = part.partition("=")
        if equals and key == "device" and value:
            return Located(value.strip("\"'").count(",") + 1, place)
        if equals and key == "count" and (number := count(value)) is not None:
            return Located(number, place)
    return None


def device_numbers(text: str, place: Place) -> Located[tuple[str, ...]] | None:
    """Which GPUs an option names: `"device=0,1"` is 0 and 1; a count takes the first ones."""
    match = _NAMED_DEVICES.search(text.strip("\"'"))
    if match is not None:
        return Located(tuple(match.group(1).split(",")), place)
    count = device_count(text, place)
    return None if count is None or count.value > 64 else Located(tuple(map(str, range(count.value))), place)


def published(text: str) -> int | None:
    """The port inside the container: of `8000`, `80:8000`, `127.0.0.1:80:8000/tcp`."""
    port = text.strip().rpartition(":")[2].partition("/")[0]
    return whole(port)
