"""`preflight diff`."""

from __future__ import annotations

from preflight.calibrate.figures import choose_boot, fitted
from preflight.cli.files import Unreadable, may_be_log, read_file
from preflight.cli.session import Choice, Session
from preflight.drift.compare import differences, effects, environments, telling, unseen
from preflight.drift.render import Comparison, as_data, as_text
from preflight.drift.sides import Side, of_boot, of_resolved
from preflight.engines.base import Launch
from preflight.lint import lint_document
from preflight.logs.boot import AFTER, BEFORE, Boot
from preflight.logs.document import document_of
from preflight.logs.reader import read_log
from preflight.logs.site import located
from preflight.logs.sniff import holds_boot
from preflight.records import NamedTuple


class Answer(NamedTuple):
    text: str
    notes: tuple[str, ...] = ()
    failed: bool = False


class _Cannot(Exception):
    """Why a side cannot be compared."""


def diff(first: str, second: str, format: str) -> Answer:
    notes: list[str] = []
    try:
        boots = [_boot(path, notes) for path in (first, second)]
        launches = [_launches(path) if boot is None else [] for path, boot in zip((first, second), boots, strict=True)]
        a, b = _pair(first, second, boots, launches, notes)
    except _Cannot as error:
        return Answer("", (*notes, str(error)), failed=True)
    own, b = b, _measured_by(a, b)
    found = differences(a, b)
    moved = list(effects(a, b, found))
    shown, others = telling(a, b, found, moved)
    comparison = Comparison(a, b, shown, others, moved, environments(a, b), unseen(a, b), own is not b)
    if a.launch.engine.name != b.launch.engine.name:
        notes.append(f"{a.path} is of {a.launch.engine.title}, {b.path} of {b.launch.engine.title}: settings are not compared.")
    if format == "json":
        import json

        return Answer(json.dumps(as_data(comparison), indent=2, ensure_ascii=False), tuple(notes))
    return Answer(as_text(comparison), tuple(notes))


def _boot(path: str, notes: list[str]) -> Boot | None:
    """The boot of a log; None where the file is something else."""
    try:
        if not may_be_log(path) or not holds_boot(path):
            return None
        boots = read_log(path)
    except (OSError, ValueError):
        return None
    if len(boots) > 1:
        notes.append(f"{path} holds {len(boots)} boots; the last that measured anything is compared.")
    return choose_boot(boots) or (boots[-1] if boots else None)


def _launches(path: str) -> list[Side]:
    document = read_file(path)
    if isinstance(document, Unreadable):
        raise _Cannot(document.diagnostic.message)
    found = [of_resolved(one) for one in lint_document(document, Session(Choice()).circumstances(path)[0]).launches]
    if not found:
        raise _Cannot(f"No launch and no boot is found in {path}.")
    return found


def _pair(first: str, second: str, boots: list[Boot | None], launches: list[list[Side]], notes: list[str]) -> tuple[Side, Side]:
    """Of files with several launches the ones that belong together: of the same name, else of the same model."""
    a = None if boots[0] is not None else _chosen(launches[0], launches[1], boots[1], first, notes)
    b = None if boots[1] is not None else _chosen(launches[1], [a] if a is not None else [], boots[0], second, notes)
    left = a or _of_boot(first, boots[0], None if b is None else b.launch)
    right = b or _of_boot(second, boots[1], left.launch)
    return left, right


def _of_boot(path: str, boot: Boot | None, other: Launch | None) -> Side:
    side = None if boot is None else of_boot(path, boot, other)
    if side is None:
        raise _Cannot(f"{path} shows no settings that can be compared.")
    return side


def _measured_by(a: Side, b: Side) -> Side:
    """A launch that has no figures of its own, judged by those of the boot it is compared with, where they fit it."""
    if a.boot is None or b.boot is not None or b.launch.tables.get("observed"):
        return b
    document = b.launch.site.document
    fits = {entry.key for entry in fitted(a.boot, document_of(a.path, [a.boot.excerpts]), b.launch).entries}
    figures = {key: located(a.path, a.boot.figures[key]) for key in (BEFORE, AFTER) if key in fits}
    if len(figures) < 2:
        return b
    context = Session(Choice()).circumstances(b.path)[0]
    result = lint_document(document, context._replace(tables={**context.tables, "observed": figures}))
    return next((of_resolved(one) for one in result.launches if one.launch.head == b.launch.head), b)


def _chosen(mine: list[Side], others: list[Side], boot: Boot | None, path: str, notes: list[str]) -> Side:
    chosen = mine[0]
    if len(mine) > 1:
        from preflight.drift.sides import same_model

        names = {other.launch.site.name for other in others}
        fitting = [one for one in mine if one.launch.site.name in names and one.launch.site.name is not None]
        if boot is not None:
            fitting = [one for one in mine if one.launch.engine.name == boot.engine and same_model(boot, one.launch) is not False]
        chosen = (fitting or mine)[0]
        notes.append(f"{path} holds {len(mine)} launches; the one on line {chosen.line} is compared.")
    return chosen
