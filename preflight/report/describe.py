"""What SARIF says of a rule, from the rule's docstring."""

from __future__ import annotations

import re

from preflight.report.sarif import Description


def described(code: str, documentation: str) -> Description:
    """The first line; the first paragraphs under `## What it does` and `## Why`; all of it as Markdown."""
    title, _, rest = documentation.strip().partition("\n")
    found = re.findall(r"^## ([^\n]+)\n+(.*?)(?=\n## |\Z)", rest, re.M | re.S)
    sections = dict(reversed(found))  # the first of a name: an example may hold what looks like a heading
    paragraphs = [" ".join(sections.get(name, "").split("\n\n")[0].split()) for name in ("What it does", "Why")]
    full = " ".join(paragraph for paragraph in paragraphs if paragraph)
    return Description(title.strip(), full or title.strip(), f"# {code}: {title.strip()}\n{rest}".rstrip() + "\n")
