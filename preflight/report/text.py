"""For people: each finding with its source line, the stage at which the launch fails, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.diagnostics import ERROR, NOTE, SAFE, UNSAFE, WARNING, Diagnostic
from preflight.report.concise import COLORS, RESET, line_of, shown
from preflight.report.escape import escape
from preflight.report.frame import frame
from preflight.report.model import FIX_SWITCH, Options, Report, count, offered_fix

STAGE_WORDS = {
    "arguments": "before anything is loaded",
    "init": "before loading",
    "load": "while loading",
    "kv-sizing": "after loading",
    "capture": "after loading and KV sizing",
    "serving": "after it has started",
}
HELP_COLOR = "\x1b[1;32m"


def render(report: Report, options: Options) -> str:
    lines: list[str] = []
    for diagnostic in shown(report, options):
        lines += finding(diagnostic, options)
        lines.append("")
    if options.statistics and report.diagnostics:
        from preflight.report.statistics import table

        lines += [*table(report), ""]
    lines += summary(report, options)
    return "".join(f"{line}\n" for line in lines)


def finding(diagnostic: Diagnostic, options: Options) -> Iterator[str]:
    """The concise line, then indented ones: no problem matcher takes those for findings."""
    yield line_of(diagnostic, color=options.color)
    yield from source(diagnostic, options)
    if diagnostic.stage is not None:
        verb = "fails" if diagnostic.severity is ERROR else "may fail"
        words = STAGE_WORDS.get(diagnostic.stage)
        yield f"  {verb} at {diagnostic.stage}" + (f", {words}" if words else "")
    for related in diagnostic.related:
        line, column = related.place.document.lines.position(related.place.span.start)
        yield f"  see {escape(related.place.path)}:{line}:{column}: {escape(related.label)}"
    for fix in diagnostic.fixes:
        word = f"{HELP_COLOR}help:{RESET}" if options.color else "help:"
        yield f"  {word} {escape(fix.title)} ({FIX_SWITCH[fix.applicability]})"


def source(diagnostic: Diagnostic, options: Options) -> Iterator[str]:
    """The line in the file, and carets under the place; nothing where the line is blank."""
    number, line, indent, length = frame(diagnostic.at, options.width - 10)
    if not line:
        return
    gutter = f"  {number:>4}"
    carets = "^" * length
    if options.color:
        carets = f"{COLORS[diagnostic.severity]}{carets}{RESET}"
    yield f"{gutter} | {line}"
    yield f"{' ' * len(gutter)} | {' ' * indent}{carets}"


def plural(number: int, noun: str, ending: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def summary(report: Report, options: Options) -> Iterator[str]:
    """`1 error, 1 warning, 2 notes (--notes)`, then how much can be fixed by which switch."""
    errors, warnings, notes = (count(report, severity) for severity in (ERROR, WARNING, NOTE))
    parts = [plural(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    if notes:
        parts.append(plural(notes, "note") + ("" if options.notes else " (--notes)"))
    checked = f"{plural(report.files, 'file')} with {plural(report.launches, 'launch', 'es')}"
    yield ", ".join(parts) if parts else f"No findings in {checked}."
    seen = list(shown(report, options))  # a fix of a note that is not shown would only puzzle
    safe = sum(offered_fix(diagnostic, SAFE) is not None for diagnostic in seen)
    unsafe = sum(offered_fix(diagnostic, SAFE, UNSAFE) is not None for diagnostic in seen) - safe
    if safe or unsafe:
        ways = ((safe, FIX_SWITCH[SAFE]), (unsafe, FIX_SWITCH[UNSAFE]))
        yield f"{safe + unsafe} fixable: " + ", ".join(f"{number} with {switch}" for number, switch in ways if number)
