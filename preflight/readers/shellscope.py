"""The words that a shell would make of a command's words: variables filled in, arrays and flag texts taken apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preflight.launch import DEFAULT, KNOWN, OPAQUE, Token
from preflight.readers.editing import Argument, ShellWords, Slot
from preflight.readers.script import CONDITIONAL, Script, Use, references
from preflight.readers.shellcodec import ScriptCodec, WordCodec, quoting_of
from preflight.readers.shelltree import Assignment
from preflight.readers.shellvars import MAX_DEPTH, Variables, names_flags
from preflight.readers.shellwords import OTHER, TEXT, VARIABLE, Part, Word, shown, split_words
from preflight.text import Text

_MAX_WORDS, _MAX_WORK = 4000, 8_000
_SWITCH = re.compile(r"--(?:(?:enable|disable|skip|no|sleep)-[\w-]+|trust-remote-code|log-requests|enforce-eager)\Z")
_MULTIPLE = re.compile(r"\s")


class Scope(Variables):
    """The variables that a script can see, and what its commands make of them."""

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
        if not reaching and self.parent is not None and isinstance(outside := self.parent[0], Scope):
            return outside._array(script, word, part, self.parent[1], slot)
        pieces = self._pieces(reaching, use) if reaching else None
        return [self._opaque(script, word, slot)] if pieces is None else self._tailed(pieces, slot)

    def _pieces(self, reaching: Sequence[Assignment], use: Use) -> list[Argument] | None:
        """The words of an array, or of a text that holds several; None where they cannot be told."""
        if self._depth > MAX_DEPTH:
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
        return references(self.script.text.document.text).get(name, 0) - own <= 1
