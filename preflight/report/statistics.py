"""`--statistics`: how often each rule reported, most often first."""

from __future__ import annotations

from preflight.report.model import Report, fixable


def table(report: Report) -> list[str]:
    """Lines of `count  CODE  name  N fixable`."""
    counts: dict[tuple[str, str], list[int]] = {}
    for diagnostic in report.diagnostics:
        row = counts.setdefault((diagnostic.rule.code, diagnostic.rule.name), [0, 0])
        row[0] += 1
        row[1] += fixable(diagnostic)
    rows = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    count_width = max((len(str(total)) for _, (total, _) in rows), default=0)
    name_width = max((len(name) for (_, name), _ in rows), default=0)
    return [
        f"{total:>{count_width}}  {code}  {name:<{name_width}}  {f'{fixes} fixable' if fixes else ''}".rstrip()
        for (code, name), (total, fixes) in rows
    ]
