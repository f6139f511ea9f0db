"""`preflight explain`."""

from __future__ import annotations

import sys
from typing import Any

from preflight.cli.files import Unreadable, read_file, read_stdin
from preflight.cli.session import Choice, Session
from preflight.explain.data import explain
from preflight.explain.waterfall import waterfall
from preflight.lint import FileResult, lint_document


def explain_files(paths: list[str], format: str, stdin_filename: str) -> tuple[str, list[str]]:
    """The text, and what kept a file from being read."""
    results: list[FileResult] = []
    problems: list[str] = []
    session = Session(Choice())
    for path in paths:
        log = _log(path, stdin_filename, session)
        if log is not None:
            results.append(log)
            continue
        document = read_stdin(stdin_filename, sys.stdin.buffer) if path == "-" else read_file(path)
        if isinstance(document, Unreadable):
            problems.append(document.diagnostic.message)
            continue
        result = lint_document(document, session.circumstances(document.path)[0])
        broken = [problem for problem in result.reading.problems if problem.code == "CFG001"]
        problems += [f"{path}: {problem.finding.message}" for problem in broken]
        if not result.launches and not broken and format == "text":
            sys.stderr.write(f"preflight: {path} holds no launch that can be explained\n")
        results.append(result)
    problems += [
        f"{one.at.path}: {one.message}" for outcome in session.of_settings() if outcome.failed for one in outcome.diagnostics
    ]
    return _rendered(results, format), problems


def _log(path: str, stdin_filename: str, session: Session) -> FileResult | None:
    """The launches of a boot log; None where the file is none."""
    from preflight.cli.files import may_be_log, readable

    if not may_be_log(stdin_filename if path == "-" else path) or (path != "-" and not readable(path)):
        return None
    from preflight.logs.lint import as_file, lint_log, lint_stream
    from preflight.logs.sniff import holds_boot

    if path == "-":
        return as_file(lint_stream(stdin_filename, sys.stdin.buffer, session.circumstances(stdin_filename)[0]))
    try:
        return as_file(lint_log(path, session.circumstances(path)[0])) if holds_boot(path) else None
    except (OSError, ValueError):
        return None  # reading it as a launch file says why


def _rendered(results: list[FileResult], format: str) -> str:
    if format == "text":
        return "\n".join(text for result in results if (text := waterfall(result)))
    data = explain(results)
    if format == "html":
        from preflight.explain.page import page

        return page(data)
    return _json(data)


def _json(data: dict[str, Any]) -> str:
    import json

    return json.dumps(data, indent=2, ensure_ascii=False)
