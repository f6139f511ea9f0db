"""`preflight rule`: the documentation of the rules, from their own modules."""

from __future__ import annotations

import json

from preflight.diagnostics import Rule
from preflight.registry import Registry, registry


class NoSuchRule(ValueError):
    """A name that no rule has; the message names its nearest neighbour."""


def render(name: str | None, *, every: bool, format: str) -> str:
    rules = registry()
    if name is None and not every:
        return json.dumps([_data(rules, rule) for rule in rules.rules.values()], indent=2) if format == "json" else _list(rules)
    chosen = list(rules.rules.values()) if name is None else [_find(rules, name)]
    if format == "json":
        return json.dumps([_data(rules, rule) for rule in chosen], indent=2, ensure_ascii=False)
    page = markdown if format == "markdown" else _text
    return "\n\n".join(page(rules, rule) for rule in chosen)


def _find(rules: Registry, name: str) -> Rule:
    rule = rules.find(name)
    if rule is not None:
        return rule
    from preflight.selection import UnknownSelector, selector

    try:
        found = selector(rules.rules, name)
    except UnknownSelector as error:
        raise NoSuchRule(str(error)) from None
    raise NoSuchRule(f"{found} is the beginning of several codes. `preflight rule` lists them.")


def _list(rules: Registry) -> str:
    return "\n".join(
        f"{rule.code}  {rule.severity.word:<8}{rule.name:<36}{summary(rules, rule.code)}" for rule in rules.rules.values()
    )


def summary(rules: Registry, code: str) -> str:
    """The first line of a rule's documentation."""
    return rules.documentation(code).strip().partition("\n")[0]


def markdown(rules: Registry, rule: Rule) -> str:
    stage = f", fails at {rule.stage}" if rule.stage else ""
    head = f"# {rule.code} {rule.name}\n\n*{rule.severity.word}{stage}*\n\n"
    return head + rules.documentation(rule.code).strip() + "\n"


def _text(rules: Registry, rule: Rule) -> str:
    stage = f", fails at {rule.stage}" if rule.stage else ""
    text = rules.documentation(rule.code).strip()
    return f"{rule.code} {rule.name} ({rule.severity.word}{stage})\n\n{text}\n"


def _data(rules: Registry, rule: Rule) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.word,
        "stage": rule.stage,
        "aliases": list(rule.aliases),
        "summary": summary(rules, rule.code),
        "documentation": rules.documentation(rule.code).strip(),
    }
