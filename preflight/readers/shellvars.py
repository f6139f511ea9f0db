"""What the variables of a script hold where they are used, as far as the file says.

Known: every assignment that can reach the use says the same. Default: an assignment or expansion that the environment or an
argument may override. Everything else stays unknown, with its known pieces kept as a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from preflight.launch import DEFAULT, KNOWN, OPAQUE, UNKNOWN_STATE, Token
from preflight.readers.editing import Argument, ShellWords, Slot
from preflight.readers.script import CONDITIONAL, Scalar, Script, Use
from preflight.readers.shellcodec import BraceCodec, ScriptCodec, WordCodec, quoting_of
from preflight.readers.shelltree import Assignment, Program
from preflight.readers.shellwords import (
    OTHER,
    TEXT,
    VARIABLE,
    Part,
    Word,
    scan_inside,
    shown,
    split_words,
)
from preflight.text import Text

_MAX_DEPTH, _MAX_LENGTH, _MAX_WORDS, _MAX_WORK = 20, 65536, 4000, 8_000
_OPAQUE_NAME = re.compile(r"(?:ARGS?|FLAGS?|OPTS?|OPTIONS?|EXTRAS?|PARAMS?|ADDITIONAL|CMD|COMMAND)(?:_|$)", re.I)
_SWITCH = re.compile(r"--(?:(?:enable|disable|skip|no|sleep)-[\w-]+|trust-remote-code|log-requests|enforce-eager)\Z")
_MULTIPLE = re.compile(r"\s")


def unknown(name: str, *, given: bool = False) -> Scalar:
    return Scalar(None, "${" + name + "}", UNKNOWN_STATE, given=given)


def names_flags(name: str) -> bool:
    """Whether a variable of this name is likely to hold whole flags, or is written to be optional (`X+`)."""
    return name.endswith("+") or _OPAQUE_NAME.search(name) is not None


class Scope:
    """The variables that a script can see."""

    def __init__(
        self,
        script: Script,
        program: Program,
        parent: tuple[Scope, Use] | None = None,
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
        self._depth = self._work = 0

    # -- which assignments reach a use ------------------------------------------------------------------------------------

    def reaching(self, name: str, use: Use) -> list[Assignment]:
        """The assignments that `name` may have at `use`: the last unconditional one first, then those that may change it."""
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
        if self._depth > _MAX_DEPTH:
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
        pattern = re.compile(r"\$\{?[#!]?" + assignment.name + r"\b")
        uses = len(pattern.findall(self.script.text.document.text))
        if assignment.value is not None:
            uses -= len(pattern.findall(self.script.text.value, assignment.value.start, assignment.value.end))
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
            if outer is not None and isinstance(outer.scope, Scope):
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
        if self._depth > _MAX_DEPTH:
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

    # -- words -------------------------------------------------------------------------------------------------------------

    def arguments(self, script: Script, words: Sequence[Word], use: Use, *, shared: bool = False) -> list[Argument]:
        """The words that a shell would make of `words`."""
        container = ShellWords(script.text, [(word.start, word.end) for word in words])
        found: list[Argument] = []
        for index, word in enumerate(words):
            slot = None if shared else Slot(container, index)
            found.extend(self._word(script, word, use, slot, found))
            if len(found) > _MAX_WORDS:
                return [*found[:_MAX_WORDS], self._opaque(script, word, None)]
        return found

    def _word(self, script: Script, word: Word, use: Use, slot: Slot | None, before: Sequence[Argument]) -> list[Argument]:
        self._work += 1
        if self._work > _MAX_WORK:
            return [self._opaque(script, word, slot)]
        part = word.parts[0] if len(word.parts) == 1 else None
        outer = script.outer.get(part.start) if part is not None else None
        if part is not None and outer is not None and outer.splits(part):
            assert isinstance(outer.scope, Scope)
            bare = outer.part._replace(quoted=part.quoted)
            return outer.scope._word(outer.script, Word(bare.start, bare.end, (bare,)), outer.use, slot, before)
        if part is not None and part.kind == VARIABLE:
            if part.value in ("@", "*"):
                if self.positional is not None:
                    return list(self.positional)
                return [self._opaque(script, word, slot)]
            if part.subscript in ("@", "*"):
                return self._array(script, word, part, use, slot)
            if not part.quoted and not script.plain:
                return self._unquoted(script, word, part, use, slot, before)
        if any(piece.kind == VARIABLE and (piece.value in "@*" or piece.subscript in ("@", "*")) for piece in word.parts):
            return [self._opaque(script, word, slot)]
        if part is not None and part.kind == OTHER and self._optional(part, before):
            return [self._opaque(script, word, slot)]
        return [self._single(script, word, use, slot)]

    def single(self, script: Script, word: Word, use: Use) -> Token:
        """A word where a shell splits nothing: the value of an assignment."""
        return self._single(script, word, use, None).token

    def _single(self, script: Script, word: Word, use: Use, slot: Slot | None) -> Argument:
        """A word that stays one word."""
        text, start, end = script.text, word.start, word.end
        if word.literal is not None:
            codec = WordCodec(quoting_of(text.value[start:end]), plain=script.plain)
            at = text.inner(start, end, codec)
            if at is not None:
                return Argument(self._literal(script, word, at), slot, slot, (script, word))
        at = text.inner(start, end)
        assert at is not None  # the layer that changes nothing reads everything
        scalar = self.scalar(script, word.parts, use)
        pattern = scalar.pattern if scalar.value is None else None
        conditional = any(region.state == CONDITIONAL for region in script.overlapping(start, end))
        token = Token(scalar.value, at, scalar.source, scalar.state, scalar.definition, conditional, pattern)
        return Argument(token, slot, slot, (script, word))

    def _literal(self, script: Script, word: Word, at: Text) -> Token:
        regions = script.overlapping(word.start, word.end)
        conditional = any(region.state == CONDITIONAL for region in regions)
        regions = [region for region in regions if region.state != CONDITIONAL]
        if not regions:
            return Token(at.value, at, None if conditional else at, conditional=conditional)
        state = DEFAULT if any(region.state == DEFAULT for region in regions) else KNOWN
        region = regions[0]
        whole = len(regions) == 1 and region.end - region.start >= len(at.value)
        source = region.source if whole and region.source is not None else None if region.definition else at
        return Token(at.value, at, source, state, region.definition, conditional)

    def _opaque(self, script: Script, word: Word, slot: Slot | None) -> Argument:
        at = script.text.inner(word.start, word.end)
        assert at is not None
        return Argument(Token(None, at, None, OPAQUE, pattern=shown(at.value)), None, slot, (script, word))

    def _optional(self, part: Part, before: Sequence[Argument]) -> bool:
        """Whether what a run or an outer layer puts here may be any number of words."""
        return not part.quoted and (names_flags(part.value) or self._takes_no_value(before))

    @staticmethod
    def _takes_no_value(before: Sequence[Argument]) -> bool:
        """Whether the word before leaves no place for a value."""
        if not before:
            return False
        text = before[-1].token.text
        if text == "serve":  # the model
            return False
        return not text.startswith("-") or "=" in text or _SWITCH.match(text) is not None

    def _unquoted(
        self, script: Script, word: Word, part: Part, use: Use, slot: Slot | None, before: Sequence[Argument]
    ) -> list[Argument]:
        """`$X`: any number of words."""
        if part.operator in ("+", ":+"):
            parts = split_words(script.text.value, part.word_start, part.word_end)
            return [
                Argument(argument.token._replace(conditional=True), None, None)
                for argument in self.arguments(script, parts, use, shared=True)
            ]
        reaching = self.reaching(part.value, use)
        many = len(reaching) > 1 or any(self.appends(a) for a in reaching) or names_flags(part.value)
        if reaching and not part.operator and (many or self._has_blanks(reaching[0])):
            pieces = self._pieces(reaching, use)
            if pieces is not None:
                return self._tailed(pieces, slot)
        scalar = self._part(script, part, use)
        if scalar.value == "" and scalar.state == KNOWN:
            return []
        if scalar.value is not None and (_MULTIPLE.search(scalar.value) or scalar.value[:1] in ("", "-")):
            words = split_words(script.text.value, part.word_start, part.word_end) if part.operator and not reaching else []
            found = self.arguments(script, words, use, shared=True)
            defaults = [
                Argument(a.token._replace(state=a.token.state if a.token.value is None else DEFAULT, source=None), None, None)
                for a in found
            ]
            return [*defaults, self._opaque(script, word, slot)]
        if scalar.value is None and (names_flags(part.value) or self._takes_no_value(before)):
            return [self._opaque(script, word, slot)]
        return [self._single(script, word, use, slot)]

    @staticmethod
    def _tailed(pieces: list[Argument], slot: Slot | None) -> list[Argument]:
        """`pieces`, after whose last something may be put where the whole was written."""
        if pieces and pieces[-1].tail is None:
            pieces[-1] = pieces[-1]._replace(tail=slot)
        return pieces

    @staticmethod
    def _has_blanks(assignment: Assignment) -> bool:
        return assignment.value is not None and any(
            part.kind == TEXT and _MULTIPLE.search(part.value) for part in assignment.value.parts
        )

    def _array(self, script: Script, word: Word, part: Part, use: Use, slot: Slot | None) -> list[Argument]:
        reaching = self.reaching(part.value, use)
        if not reaching and self.parent is not None:
            return self.parent[0]._array(script, word, part, self.parent[1], slot)
        pieces = self._pieces(reaching, use) if reaching else None
        return [self._opaque(script, word, slot)] if pieces is None else self._tailed(pieces, slot)

    def _pieces(self, reaching: Sequence[Assignment], use: Use) -> list[Argument] | None:
        """The words of an array, or of a text that holds several; None where they cannot be told."""
        if self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._all_pieces(reaching, use)
        finally:
            self._depth -= 1

    def _all_pieces(self, reaching: Sequence[Assignment], use: Use) -> list[Argument] | None:
        found: list[Argument] = []
        for index, assignment in enumerate(reaching):
            own = self._own_words(assignment)
            if own is None:
                return None
            script, words = own
            conditional = not self.certain(assignment, use)
            if index and not self.appends(assignment) and found:
                return None
            inner = Use(assignment.branch, assignment.start)
            shared = conditional or not self._used_once_at_all(assignment.name)
            pieces = self.arguments(script, words, inner, shared=shared)
            if conditional:
                pieces = [Argument(piece.token._replace(conditional=True, source=None), None, None) for piece in pieces]
            elif shared:
                pieces = [piece._replace(token=piece.token._replace(source=None)) for piece in pieces]
            found.extend(pieces)
            if len(found) > _MAX_WORDS:
                return None
        return found

    def _own_words(self, assignment: Assignment) -> tuple[Script, list[Word]] | None:
        """The words that an assignment adds, without the variable's former ones."""
        if assignment.items is not None:
            script, words = self.script, list(assignment.items)
        elif assignment.value is not None:
            value = assignment.value
            codec = ScriptCodec(quoting_of(self.script.text.value[value.start : value.end]))
            inner = self.script.cut(value, codec, self, Use(assignment.branch, assignment.start))
            if inner is None:
                return None
            script, words = inner, split_words(inner.text.value, 0, len(inner.text.value), inner.holes)
        else:
            return None
        return script, [
            word
            for word in words
            if not (len(word.parts) == 1 and word.parts[0].kind != TEXT and word.parts[0].value == assignment.name)
        ]

    def _used_once_at_all(self, name: str) -> bool:
        """Whether one place of the file reads the variable, its own appends apart."""
        own = sum(1 for assignment in self.assignments[name] if self.appends(assignment) and not assignment.append)
        pattern = re.compile(r"\$\{?[#!]?" + name + r"\b")
        return len(pattern.findall(self.script.text.document.text)) - own <= 1
