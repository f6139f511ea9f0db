"""What a lookup ends with when it does not end with facts."""

from preflight.records import NamedTuple


class NotFound(NamedTuple):
    """A name that neither the catalogue nor the local files know: that part of a launch is unknown."""

    name: str
    near: tuple[str, ...] = ()  # similar names, the likeliest first


class Broken(NamedTuple):
    """A profile or model file that is missing although it is spelled as a path, or that cannot be read."""

    name: str
    message: str  # one sentence of fact and one of remedy
    path: str | None = None


def nearest(name: str, known: list[str], limit: int = 3) -> tuple[str, ...]:
    """Similar known names. Imports its helper only here, where something is already wrong."""
    from difflib import get_close_matches

    return tuple(get_close_matches(name.lower(), known, limit, 0.6))
