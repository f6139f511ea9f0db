"""How tests look at a reading."""

from importlib import import_module

from preflight.launch import LaunchSite, Reading
from preflight.text import Document, apply_edits


def reading(kind: str, text: str, path: str = "f") -> Reading:
    module = import_module(f"preflight.readers.{kind}")
    found = module.read(Document(path, text))
    assert isinstance(found, Reading)
    return found


def sites(kind: str, text: str, path: str = "f") -> tuple[LaunchSite, ...]:
    return reading(kind, text, path).sites


def words(site: LaunchSite) -> list[str]:
    return [token.text for token in site.argv]


def only(kind: str, text: str, path: str = "f") -> LaunchSite:
    found = sites(kind, text, path)
    assert len(found) == 1, [words(site) for site in found]
    return found[0]


def written(site: LaunchSite) -> list[str]:
    """Each word as it stands in the file."""
    return [site.document.text[token.place.span.start : token.place.span.end] for token in site.argv]


def line(site: LaunchSite) -> int:
    return site.document.lines.position(site.head.span.start)[0]


def inserted(kind: str, text: str, flag: str, *values: str) -> str:
    """`text` after adding a flag to its one launch."""
    edit = only(kind, text).editor.insert(flag, values)
    assert edit is not None
    changed = apply_edits(text, [edit])
    before, after = words(only(kind, text)), words(only(kind, changed))
    assert [word for word in after if word not in (flag, *values)] == [word for word in before if word not in (flag, *values)]
    at = after.index(flag)
    assert after[at : at + 1 + len(values)] == [flag, *values]
    return changed


def deleted(kind: str, text: str, first: int, last: int) -> str:
    """`text` after taking words out of its one launch."""
    edit = only(kind, text).editor.delete(first, last)
    assert edit is not None
    changed = apply_edits(text, [edit])
    before, after = words(only(kind, text)), words(only(kind, changed))
    assert after == before[:first] + before[last + 1 :]
    return changed


def replaced(kind: str, text: str, old: str, new: str) -> str:
    """`text` after giving the word `old` of its one launch a new value."""
    site = only(kind, text)
    token = next(token for token in site.argv if token.value == old)
    edit = token.replace(new)
    assert edit is not None
    changed = apply_edits(text, [edit])
    assert [word if word != old else new for word in words(site)] == words(only(kind, changed))
    return changed
