"""Fixes: which ones apply, the texts they make, the diff, and writing a file without ever leaving half of it."""

from __future__ import annotations

import os
from bisect import bisect, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from preflight.diagnostics import NOTE, SAFE, UNSAFE, Diagnostic, Fix
from preflight.records import NamedTuple
from preflight.text import Document, Edit, Span, apply_edits, collide

ROUNDS = 10

Documents = Mapping[str, Document]
"""What is being linted, by path. A fix that edits anything else is left alone."""


class Fixed(NamedTuple):
    """What fixing led to.

    `diagnostics`: what is left in `documents`. `applied`: the code of each finding that a fix was applied for, in order.
    `unsettled`: rules that still offered fixes after the last round. `broken`: rules whose fixes made a file that does not
    parse; that round was taken back. Both are bugs of a rule, to be reported as such.
    """

    documents: Documents
    diagnostics: tuple[Diagnostic, ...]
    applied: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def fix_all(
    documents: Documents,
    diagnostics: Iterable[Diagnostic],
    relint: Callable[[Documents], Iterable[Diagnostic]],
    parses: Callable[[Document], bool],
    *,
    unsafe: bool = False,
) -> Fixed:
    """Apply fixes, lint again, and so on until nothing changes.

    `diagnostics` are those of `documents`; `relint` gives those of changed documents, `parses` says whether a document can
    be read: one that could must still be. Nothing is written.
    """
    state = Fixed(documents, tuple(diagnostics))
    for _ in range(ROUNDS):
        chosen = choose(state.diagnostics, state.documents, unsafe=unsafe)
        if not chosen:
            return state
        changed = apply(state.documents, [fix for _, fix in chosen])
        codes = tuple(diagnostic.rule.code for diagnostic, _ in chosen)
        if any(parses(state.documents[path]) and not parses(changed[path]) for path in _different(state.documents, changed)):
            return state._replace(broken=_distinct(codes))
        state = Fixed(changed, tuple(relint(changed)), state.applied + codes)
    left = choose(state.diagnostics, state.documents, unsafe=unsafe)
    return state._replace(unsettled=_distinct(diagnostic.rule.code for diagnostic, _ in left))


def _different(before: Documents, after: Documents) -> Iterator[str]:
    return (path for path, document in after.items() if document is not before[path])


def _distinct(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(codes)))


def choose(diagnostics: Iterable[Diagnostic], documents: Documents, *, unsafe: bool) -> list[tuple[Diagnostic, Fix]]:
    """At most one fix per finding, a safe one first; none that overlaps a chosen one, in the order of their places.

    A fix that several findings share is chosen for each of them; it is applied once.
    """
    allowed = (SAFE, UNSAFE) if unsafe else (SAFE,)
    candidates: list[tuple[Diagnostic, Fix]] = []
    for diagnostic in diagnostics:
        usable = [fix for kind in allowed for fix in diagnostic.fixes if fix.applicability == kind and applies(fix, documents)]
        if usable:
            candidates.append((diagnostic, usable[0]))
    candidates.sort(key=lambda candidate: min((edit.path, edit.span) for edit in candidate[1].edits))
    chosen: list[tuple[Diagnostic, Fix]] = []
    taken: dict[str, list[Edit]] = {}
    whole: set[tuple[Edit, ...]] = set()
    for diagnostic, fix in candidates:
        if fix.edits not in whole:
            if any(_meets(edit, taken.get(edit.path, [])) for edit in fix.edits):
                continue
            whole.add(fix.edits)
            for edit in fix.edits:
                insort(taken.setdefault(edit.path, []), edit)
        chosen.append((diagnostic, fix))
    return chosen


def _meets(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Whether it overlaps one of `taken`: they are sorted and apart, so only its neighbours can."""
    index = bisect(taken, edit)
    return any(overlap(edit, other) for other in taken[max(index - 1, 0) : index + 1])


def applies(fix: Fix, documents: Documents) -> bool:
    """Whether all its edits lie in `documents`, apart from each other, and change something that can be written."""
    edits = fix.edits
    if any(edit.path not in documents or not _inside(edit.span, documents[edit.path]) for edit in edits):
        return False
    if collide(edits):  # beside each other they may stand: the fix was proved with both
        return False
    if any("\ud800" <= char <= "\udfff" for edit in edits for char in edit.text):
        return False
    return any(documents[edit.path].text[edit.span.start : edit.span.end] != edit.text for edit in edits)


def _inside(span: Span, document: Document) -> bool:
    return 0 <= span.start <= span.end <= len(document.text)


def overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits touch the same characters, or an insertion stands at the border of the other: the order would matter."""
    if one.path != other.path:
        return False
    if one.span.start == one.span.end or other.span.start == other.span.end:
        return one.span.start <= other.span.end and other.span.start <= one.span.end
    return one.span.start < other.span.end and other.span.start < one.span.end


def apply(documents: Documents, fixes: Iterable[Fix]) -> Documents:
    """`documents` with `fixes` (none overlapping another, but for equal ones) applied; untouched ones stay the same objects."""
    edits: dict[str, list[Edit]] = {}
    for fix in dict.fromkeys(fix.edits for fix in fixes):
        for edit in fix:
            edits.setdefault(edit.path, []).append(edit)
    return {
        path: Document(path, apply_edits(document.text, edits[path]), bom=document.bom) if path in edits else document
        for path, document in documents.items()
    }


def summary(fixed: Fixed, *, unsafe: bool = False) -> str:
    """`3 fixed, 2 left, 1 more with --unsafe-fixes`: notes are not counted as left."""
    left = sum(diagnostic.severity is not NOTE for diagnostic in fixed.diagnostics)
    parts = [f"{len(fixed.applied)} fixed", f"{left} left"]
    more = 0 if unsafe else len(choose(fixed.diagnostics, fixed.documents, unsafe=True))
    if more:
        parts.append(f"{more} more with --unsafe-fixes")
    return ", ".join(parts)


def bugs(fixed: Fixed) -> Iterator[str]:
    """What to say of rules whose fixes went wrong."""
    if fixed.broken:
        yield f"internal error: a fix of {' or '.join(fixed.broken)} made a file that does not parse; it was taken back"
    if fixed.unsettled:
        yield f"internal error: the fixes of {' and '.join(fixed.unsettled)} do not settle after {ROUNDS} rounds"


def unified_diff(before: Document, after: Document) -> str:
    """The change as `patch -p0` takes it; empty where there is none."""
    if before.text == after.text:
        return ""
    import difflib  # only --diff needs it

    from preflight.report.escape import escape

    path = escape(before.path)
    mark = "\ufeff" if before.bom else ""
    old, new = _lines(mark + before.text), _lines(mark + after.text)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old, new, path, path)
    )


def _lines(text: str) -> list[str]:
    """Lines as patch sees them: they end at line feeds alone."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


class ChangedMeanwhile(OSError):
    """The file is no longer what was linted."""


def write(before: Document, after: Document) -> None:
    """Put `after` in place of `before` on disk, at once and whole; mode, owner, links and byte-order mark stay.

    Raises OSError: ChangedMeanwhile where the file no longer reads as `before`, else what the system says (a file that may
    not be written to is not replaced either). Then the file is as it was.
    """
    import errno
    import stat
    import tempfile  # only --fix needs it

    target = os.path.realpath(before.path)
    with open(target, "rb") as current:
        if current.read() != before.to_bytes():
            raise ChangedMeanwhile(f"{before.path} changed while it was linted; it was left alone")
        status = os.fstat(current.fileno())
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), before.path)
    descriptor, temporary = tempfile.mkstemp(prefix=".preflight-", dir=os.path.dirname(target))
    try:
        with os.fdopen(descriptor, "wb") as new:
            new.write(after.to_bytes())
            new.flush()
            os.fsync(new.fileno())
        _keep_owner(temporary, status)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _keep_owner(path: str, status: os.stat_result) -> None:
    """Where the system lets us: a file that root mends stays its owner's."""
    chown = getattr(os, "chown", None)
    if chown is None:
        return
    try:
        mine = os.stat(path)
        if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            chown(path, status.st_uid, status.st_gid)
    except OSError:
        return
