"""`preflight calibrate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preflight.calibrate.figures import Calibration, calibration, choose_boot, fitted
from preflight.calibrate.writing import with_observed
from preflight.cli.files import Unreadable, read_file
from preflight.cli.session import Choice, Session
from preflight.lint import lint_document
from preflight.logs.boot import Boot
from preflight.logs.document import LogDocument, document_of
from preflight.logs.reader import read_log
from preflight.logs.site import model_of
from preflight.readers.launch_file import KIND
from preflight.records import NamedTuple


class Answer(NamedTuple):
    """`text` for standard output, `notes` for standard error; `failed`: nothing could be taken over."""

    text: str
    notes: tuple[str, ...] = ()
    failed: bool = False


def calibrate(log: str, write: str | None, line: int | None) -> Answer:
    try:
        boots = read_log(log)
    except (OSError, ValueError) as error:
        return Answer("", (f"{log} cannot be read: {getattr(error, 'strerror', None) or error}",), failed=True)
    boot = choose_boot(boots, line)
    if boot is None:
        return Answer("", (f"{log} holds no boot of SGLang or vLLM that measured anything.",), failed=True)
    notes = tuple(_others(boots, boot))
    document = document_of(log, (one.excerpts for one in boots))
    if write is not None:
        return _written(log, boot, document, write, notes)
    found = calibration(boot)
    if not found.entries:
        return Answer("", (*notes, *found.notes, f"{log} shows no figure that can be used."), failed=True)
    return Answer(table(log, boot, found), (*notes, *found.notes))


def _others(boots: Sequence[Boot], chosen: Boot) -> Iterator[str]:
    if len(boots) > 1:
        lines = ", ".join(str(boot.line) for boot in boots if boot is not chosen)
        yield f"The log holds {len(boots)} boots; this is the one that begins on line {chosen.line} (--line: {lines})."


def table(log: str, boot: Boot, found: Calibration) -> str:
    """The [observed] table, with the line of the log beside each figure."""
    width = max(len(f"{entry.key} = {entry.value}") for entry in found.entries)
    lines = [f"[observed]  # {log}: {_title(boot)}"]
    lines += [f"{f'{entry.key} = {entry.value}':<{width}}  # line {entry.line}" for entry in found.entries]
    return "\n".join(lines)


def _title(boot: Boot) -> str:
    settings = boot.settings
    parts = [{"sglang": "SGLang", "vllm": "vLLM"}[boot.engine]]
    model = model_of(boot)
    parts += [model] if model is not None else []
    for name in ("tp_size", "tensor_parallel_size", "mem_fraction_static", "gpu_memory_utilization"):
        if isinstance(settings.get(name), int | float):
            parts.append(f"{name.replace('_', '-')} {settings[name]:g}")
    return f"{', '.join(parts)}; {boot.outcome}".replace("\n", " ")


def _written(log: str, boot: Boot, document: LogDocument, path: str, notes: tuple[str, ...]) -> Answer:
    from preflight.fix import write

    read = read_file(path)
    if isinstance(read, Unreadable):
        return Answer("", (*notes, read.diagnostic.message), failed=True)
    launches = [
        one.launch
        for one in lint_document(read, Session(Choice()).circumstances(path)[0]).launches
        if one.launch.site.kind == KIND
    ]
    if not launches:
        return Answer(
            "", (*notes, f"{path} is no launch file: figures can be written into launch.toml or *.launch.toml only."), failed=True
        )
    fits = [(launch, fitted(boot, document, launch)) for launch in launches]
    fitting = [(launch, found) for launch, found in fits if found.entries]
    if not fitting:
        told = tuple(dict.fromkeys(note for _, found in fits for note in found.notes))
        return Answer("", (*notes, *told, f"{path} was left alone."), failed=True)
    if len(fitting) > 1:
        names = ", ".join(
            launch.site.name or f"line {launch.site.document.lines.position(launch.head.span.start)[0]}" for launch, _ in fitting
        )
        return Answer(
            "",
            (*notes, f"The log fits {len(fitting)} launches of {path} ({names}): it is not certain which one wrote it."),
            failed=True,
        )
    launch, found = fitting[0]
    changed = with_observed(launch.site, found.entries)
    if changed is None:
        return Answer(
            "", (*notes, f"[observed] of {path} cannot be changed in place; `preflight calibrate {log}` prints it."), failed=True
        )
    try:
        if changed.text != read.text:
            write(read, changed)
    except OSError as error:
        return Answer("", (*notes, f"{path} could not be written: {error}"), failed=True)
    keys = ", ".join(entry.key for entry in found.entries)
    return Answer(f"{path}: [observed] has {keys} of {log}, line {boot.line}.", (*notes, *found.notes))
