"""The environment that a command of a shell script sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preflight.launch import EnvVar
from preflight.readers.script import Use
from preflight.readers.shellscope import Scope
from preflight.readers.shelltree import Command
from preflight.readers.shellwords import Word


def variables(scope: Scope, command: Command, use: Use, env: Sequence[EnvVar]) -> tuple[EnvVar, ...]:
    """The variables that a command sees; of several of one name the last counts."""
    exported = {name for name, given in scope.assignments.items() if any(assignment.exported for assignment in given)}
    found = [_exported(scope, name, use) for name in exported]
    hidden = {name for name, reaching, _variable in found if reaching}
    outer = (variable for variable in env if variable.name not in hidden)
    own = [variable for _name, _reaching, variable in found if variable is not None]
    own.sort(key=lambda variable: variable.name_place.span.start)
    return (*outer, *own, *_prefix(scope, command, use))


def _exported(scope: Scope, name: str, use: Use) -> tuple[str, bool, EnvVar | None]:
    """A variable that the script exports, where it may have a value at `use`; None where that is not known."""
    reaching = scope.reaching(name, use)
    last = reaching[-1] if reaching else None
    if last is None or last.value is None:
        return name, bool(reaching), None
    certain = len(reaching) == 1 and use.branch[: len(last.branch)] == last.branch
    return name, True, _variable(scope, name, last.value, last.start, use, not certain)


def _prefix(scope: Scope, command: Command, use: Use) -> Iterator[EnvVar]:
    for assignment in command.prefix:
        if assignment.value is not None:
            yield _variable(scope, assignment.name, assignment.value, assignment.start, use, False)


def _variable(scope: Scope, name: str, word: Word, start: int, use: Use, several: bool) -> EnvVar:
    token = scope.single(scope.script, word, Use(use.branch, start))
    if several:
        token = token._replace(conditional=True)
    return EnvVar(name, token, scope.script.text.place_of(start, start + len(name)))
