"""Problem matchers: how VS Code and GitHub read our concise lines (the first line of each text finding, too).

The text format indents all other lines, so a pattern that starts with a visible character reads findings alone. Colour codes
may surround the severity. GitHub knows only `error` and `warning` as matched words; a note needs a matcher of its own.
"""

from __future__ import annotations

from preflight.report.json_text import dumps

_CODES = r"(?:\x1b\[[\d;]*m)*"


def _regexp(severities: str) -> str:
    return rf"^{_CODES}(\S.*?):(\d+):(\d+): {_CODES}({severities}){_CODES} ([A-Z]+\d+) (.+)$"


FINDING = {"regexp": _regexp("error|warning"), "file": 1, "line": 2, "column": 3, "severity": 4, "code": 5, "message": 6}
NOTE = {"regexp": _regexp("note"), "file": 1, "line": 2, "column": 3, "code": 5, "message": 6}


def vscode_tasks() -> str:
    """The text of `.vscode/tasks.json`: a task that lints the workspace and fills the Problems panel."""
    common = {"source": "preflight", "applyTo": "allDocuments", "fileLocation": ["autoDetect", "${workspaceFolder}"]}
    task = {
        "label": "preflight",
        "detail": "Lint the files that launch LLM servers",
        "type": "process",
        "command": "preflight",
        "args": ["lint", "--format", "concise", "--notes", "."],
        "options": {"cwd": "${workspaceFolder}"},
        "group": "test",
        "presentation": {"reveal": "silent", "clear": True},
        "problemMatcher": [
            {"owner": "preflight", "severity": "error", **common, "pattern": FINDING},
            {"owner": "preflight-notes", "severity": "info", **common, "pattern": NOTE},
        ],
    }
    return dumps({"version": "2.0.0", "tasks": [task]})


def github_matcher() -> str:
    """The file that a workflow registers with `::add-matcher::`."""
    matchers = [
        {"owner": "preflight", "severity": "error", "pattern": [FINDING]},
        {"owner": "preflight-notes", "severity": "notice", "pattern": [NOTE]},
    ]
    return dumps({"problemMatcher": matchers})
