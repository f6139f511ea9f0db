"""What the variables of a script hold where they are used, as far as the file says.

Known: every assignment that can reach the use says the same. Default: an assignment or expansion that the environment or an
argument may override. Everything else stays unknown, with its known pieces kept as a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from preflight.launch import DEFAULT, KNOWN, UNKNOWN_STATE, Token
from preflight.readers.editing import Argument
from preflight.readers.script import Scalar, Script, Use, references
from preflight.readers.shellcodec import BraceCodec, WordCodec, quoting_of
from preflight.readers.shelltree import Assignment, Program
from preflight.readers.shellwords import (
    TEXT,
    VARIABLE,
    Part,
    Word,
    scan_inside,
)

MAX_DEPTH, _MAX_LENGTH = 20, 65536
_OPAQUE_NAME = re.compile(r"(?:ARGS?|FLAGS?|OPTS?|OPTIONS?|EXTRAS?|PARAMS?|ADDITIONAL|CMD|COMMAND)(?:_|$)", re.I)


def unknown(name: str, *, given: bool = False) -> Scalar:
    return Scalar(None, "${" + name + "}", UNKNOWN_STATE, given=given)


def names_flags(name: str) -> bool:
    """Whether a variable of this name is likely to hold whole flags, or is written to be optional (`X+`)."""
    return name.endswith("+") or _OPAQUE_NAME.search(name) is not None


class Variables:
    """The variables that a script can see."""

    def __init__(
        self,
        script: Script,
        program: Program,
        parent: tuple[Variables, Use] | None = None,
        environment: Mapping[str, Token] | None = None,
        positional: Sequence[Argument] | None = None,
    ) -> None:
        self.script = script
        self.functions = program.functions
        self.barriers = program.barriers
        self.parent = parent
        self.environment = environment or {}
        self.positional = positional
        self.assignments: dict[str, list[Assignment]] = {}
        for assignment in program.assignments:
            self.assignments.setdefault(assignment.name, []).append(assignment)
        self._cache: dict[tuple[str, Use], Scalar | None] = {}
        self._reaching: dict[tuple[str, Use], list[Assignment]] = {}
        self._depth = self._work = 0

    # -- which assignments reach a use ------------------------------------------------------------------------------------

    def reaching(self, name: str, use: Use) -> list[Assignment]:
        """The assignments that `name` may have at `use`: the last unconditional one first, then those that may change it."""
        found = self._reaching.get((name, use))
        if found is None:
            found = self._reaching[(name, use)] = self._reach(name, use)
        return found

    def _reach(self, name: str, use: Use) -> list[Assignment]:
        inside = {number for number, _arm in use.branch if number in self.functions}
        arms = dict(use.branch)
        found: list[Assignment] = []
        for assignment in self.assignments.get(name, ()):
            own = {number for number, _arm in assignment.branch if number in self.functions}
            later = assignment.start >= use.position
            if later and not (inside and not own & inside):
                continue
            if any(arms.get(number, arm) != arm for number, arm in assignment.branch):
                continue
            certain = use.branch[: len(assignment.branch)] == assignment.branch
            if certain and not self.appends(assignment):
                found = [assignment]
            else:
                found.append(assignment)
        return found

    def appends(self, assignment: Assignment) -> bool:
        """`X+=…`, or `X="$X …"`, `X=("${X[@]}" …)`."""
        if assignment.append:
            return True
        words = assignment.items if assignment.items is not None else (assignment.value,) if assignment.value else ()
        return any(
            part.kind == VARIABLE and part.value == assignment.name and part.operator in ("", "+", ":+")
            for word in words
            for part in word.parts
        )

    @staticmethod
    def certain(assignment: Assignment, use: Use) -> bool:
        return use.branch[: len(assignment.branch)] == assignment.branch

    # -- one value ---------------------------------------------------------------------------------------------------------

    def lookup(self, name: str, use: Use) -> Scalar | None:
        """What `name` holds at `use`; None where the file never sets it."""
        key = (name, use)
        if key in self._cache:
            return self._cache[key]
        if self._depth > MAX_DEPTH:
            return unknown(name)
        self._depth += 1
        try:
            found = self._lookup(name, use)
        finally:
            self._depth -= 1
        self._cache[key] = found
        return found

    def _lookup(self, name: str, use: Use) -> Scalar | None:
        if name.isdigit():
            if self.positional is not None and 0 < int(name) <= len(self.positional):
                token = self.positional[int(name) - 1].token
                return Scalar(token.value, token.text, token.state, None, token.place)
            return None
        reaching = self.reaching(name, use)
        if not reaching:
            given = self.environment.get(name)
            if given is not None:
                return Scalar(given.value, given.text, given.state, given.source, given.place)
            return self.parent[0].lookup(name, self.parent[1]) if self.parent else None
        if any(self.appends(assignment) or assignment.items is not None for assignment in reaching):
            return unknown(name)
        values = [self._assigned(assignment) for assignment in reaching]
        first = values[0]
        if any(reaching[0].start < barrier < use.position for barrier in self.barriers):
            values.append(Scalar(None, "", UNKNOWN_STATE, given=True))
        elif not self.certain(reaching[0], use) and any(barrier < use.position for barrier in self.barriers):
            return unknown(name)
        if len(values) > 1:
            if any(value.value != first.value and not value.given for value in values[1:]) or first.value is None:
                return unknown(name)
            overridable = any(value.given or value.state == DEFAULT for value in values)
            return first._replace(state=DEFAULT if overridable else first.state, source=first.source if overridable else None)
        if first.value is not None and not self.certain(reaching[0], use):
            return first._replace(state=DEFAULT)
        return first

    def _assigned(self, assignment: Assignment) -> Scalar:
        if assignment.value is None:
            return unknown(assignment.name)
        word = assignment.value
        scalar = self.scalar(self.script, word.parts, Use(assignment.branch, assignment.start))
        if len(word.parts) == 1 and word.parts[0].kind == VARIABLE and word.parts[0].value in ("1", "2", "OPTARG"):
            return scalar._replace(given=scalar.value is None)
        place = self.script.text.place_of(word.start, word.end)
        source = None
        if not assignment.exported and self._used_once(assignment):
            source = scalar.source if scalar.definition is None else None
            if word.literal is not None:
                source = self.script.text.inner(word.start, word.end, self._codec(word))
        return scalar._replace(source=source, definition=place)

    def _codec(self, word: Word) -> WordCodec:
        return WordCodec(quoting_of(self.script.text.value[word.start : word.end]))

    def _used_once(self, assignment: Assignment) -> bool:
        """Whether the file reads the variable in one place only (its own default does not count)."""
        if len(self.assignments[assignment.name]) != 1:
            return False
        uses = references(self.script.text.document.text).get(assignment.name, 0)
        if assignment.value is not None:
            own = self.script.text.value[assignment.value.start : assignment.value.end]
            uses -= references(own).get(assignment.name, 0)
        return uses <= 1

    def scalar(self, script: Script, parts: Sequence[Part], use: Use) -> Scalar:
        """The text of one word."""
        values = [self._part(script, part, use) for part in parts]
        if len(values) == 1:
            return values[0]
        pattern = "".join(value.pattern for value in values)
        if len(pattern) > _MAX_LENGTH:
            return unknown("")
        if any(value.value is None for value in values):
            return Scalar(None, pattern, UNKNOWN_STATE)
        state = DEFAULT if any(value.state == DEFAULT for value in values) else KNOWN
        definition = next((value.definition for value in values if value.definition is not None), None)
        return Scalar(pattern, pattern, state, None, definition)

    def _part(self, script: Script, part: Part, use: Use) -> Scalar:
        if part.kind == TEXT:
            regions = script.overlapping(part.start, part.end)
            state = DEFAULT if any(region.state == DEFAULT for region in regions) else KNOWN
            return Scalar(part.value, part.value, state)
        if part.kind != VARIABLE:
            outer = script.outer.get(part.start)
            if outer is not None and isinstance(outer.scope, Variables):
                return outer.scope._part(outer.script, outer.part, outer.use)
            return unknown(part.value)
        if part.subscript or part.value in "@*#?$!-":
            return unknown(part.value)
        base = self.lookup(part.value, use)
        operator = part.operator
        if operator in ("", "?", ":?"):
            return base if base is not None else unknown(part.value, given=part.value.isdigit())
        if operator in ("-", ":-", "=", ":="):
            unset = base is None or base.given or (base.value == "" and operator[0] == ":")
            if base is not None and not unset:
                return base
            return self._default(script, part, use)
        return unknown(part.value)

    def _default(self, script: Script, part: Part, use: Use) -> Scalar:
        if self._depth > MAX_DEPTH:
            return unknown(part.value)
        self._depth += 1
        try:
            return self._operand(script, part, use)
        finally:
            self._depth -= 1

    def _operand(self, script: Script, part: Part, use: Use) -> Scalar:
        parts = scan_inside(script.text.value, part.word_start, part.word_end, quoted=part.quoted)
        found = self.scalar(script, parts, use) if parts else Scalar("", "", DEFAULT)
        if found.value is None:
            return unknown(part.value)
        source = script.text.inner(part.word_start, part.word_end, BraceCodec())
        return Scalar(found.value, found.value, DEFAULT, source if source and source.value == found.value else None, None)
