"""An environment variable whose value its type does not take.

## What it does
Compares values with the types that the release gives its variables.

## Why
A value that cannot be read does not stop the server. SGLang warns and takes the default (or, for a switch that it reads
without its registry, takes "no"): the launch behaves as if the variable were not set. A registered switch takes true, 1, yes, y
and false, 0, no, n; another one true, 1, false and 0. "on" and "enabled" are neither.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_SPEC_V2 = "on" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
env = { SGLANG_ENABLE_SPEC_V2 = "1" }
```

## Fix
Unsafe: 1 or 0 for a word that plainly means one of them; the integer for a number like 8.0.

## Source
sglang srt/environ.py; get_bool_env_var of srt/utils.
"""

from collections.abc import Iterator

from preflight.diagnostics import UNSAFE, WARNING, Finding, Fix, Rule
from preflight.engines.base import Launch
from preflight.environment import known
from preflight.rule import rule

META = Rule("ENV006", "mistyped-variable", WARNING)
_SWITCH = ("true", "1", "false", "0")
_MEANT = {"on": "1", "enable": "1", "enabled": "1", "t": "1", "yes": "1", "y": "1"}
_MEANT |= {"off": "0", "disable": "0", "disabled": "0", "f": "0", "no": "0", "n": "0", "none": "0"}


@rule(META)
def check(launch: Launch) -> Iterator[Finding]:
    for variable, entry in known(launch):
        text = variable.token.value
        if text is None or entry.kind not in ("registered", "read"):
            continue
        if not text and not (entry.kind == "registered" and entry.type == "bool" and entry.default is True):
            continue  # an empty value that changes nothing is no mistake
        registered = entry.kind == "registered"
        wanted = _wanted(text, entry.type, registered)
        if wanted is None:
            continue
        effect = "takes its default" if registered or entry.type != "bool" else "takes it for false"
        if registered and not entry.computed:
            effect += f", {_default(entry.default)}"
        better = _better(text, entry.type)
        edit = variable.token.replace(better) if better is not None else None
        yield Finding(
            f'{variable.name} is "{text}", which is not {wanted}: {launch.engine.title} {effect}.'
            + (f" Write {better}." if better is not None else ""),
            variable.token.place,
            fixes=(Fix(f"Write {better}", (edit,), UNSAFE),) if edit is not None else (),
            data={"variable": variable.name},
        )


def _wanted(text: str, kind: str | None, registered: bool) -> str | None:
    """What the type takes; None where it takes `text`."""
    if kind == "bool":
        words = (*_SWITCH, "yes", "y", "no", "n") if registered else _SWITCH
        return None if text.lower() in words else "one of " + ", ".join(words)
    number = {"int": int, "float": float}.get(kind or "")
    if number is None:
        return None
    try:
        number(text)
    except ValueError:
        return "an integer" if number is int else "a number"
    return None


def _default(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "unset" if value is None else str(value)


def _better(text: str, kind: str | None) -> str | None:
    if kind == "bool":
        word = text.strip().lower()
        if not word:
            return "0"
        return word if word in _SWITCH else _MEANT.get(word)
    if kind == "int":
        try:
            value = float(text)
        except ValueError:
            return None
        return str(int(value)) if value.is_integer() else None
    return None
