"""The structure of a shell script: simple commands, assignments and the branch in which each stands.

Only what is needed to find a launch and what its variables hold. Nothing is executed, nothing is refused: a script that a
shell would reject still yields the commands that can be told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from preflight.readers.shelltree import Assignment, Branch, Command, Heredoc, Program
from preflight.readers.shellwords import (
    NO_HOLES,
    OTHER,
    Hole,
    Part,
    Word,
    scan_word,
    skip_parentheses,
)


class _Frame:
    __slots__ = ("arm", "condition", "kind", "number")

    def __init__(self, kind: str, number: int, arm: int | None, condition: Branch) -> None:
        self.kind = kind
        self.number = number
        self.arm = arm
        self.condition = condition


_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\[[^\]\s]*\])?(\+?)=", re.ASCII)
_BLANK = re.compile(r"(?:[ \t\r\x0b\x0c]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECT = re.compile(r"(?:\d+|&|\{\w+\})?(<<<|<<-?|<>|<&|>&|>>|>\||&>>|<|>)")
_FUNCTION = re.compile(r"[\w:.-]+[ \t]*\([ \t]*\)")
_DECLARE = frozenset({"export", "declare", "local", "readonly", "typeset"})
_READERS = frozenset({"read", "mapfile", "readarray", "getopts"})
_NESTING = 100
_TEST_LENGTH = 4000


class _Parser:
    def __init__(self, text: str, start: int, end: int, holes: Mapping[int, Hole]) -> None:
        self.text = text
        self.at = start
        self.end = end
        self.holes = holes
        self.frames: list[_Frame] = []
        self.condition: Branch = ()
        self.count = 0
        self.commands: list[Command] = []
        self.assignments: list[Assignment] = []
        self.functions: set[int] = set()
        self.barriers: list[int] = []
        self.function_next = False
        self.pending: list[tuple[str, bool, bool, list[Heredoc]]] = []
        self.outer: Branch = ()
        self.depth = 0

    # -- places ------------------------------------------------------------------------------------------------------------

    def branch(self) -> Branch:
        found = list(self.outer)
        for frame in self.frames:
            found.extend(frame.condition)
            if frame.arm is not None:
                found.append((frame.number, frame.arm))
        found.extend(self.condition)
        return tuple(found)

    def number(self) -> int:
        self.count += 1
        return self.count

    def push(self, kind: str, arm: int | None) -> None:
        number = self.number()
        if self.function_next and kind in ("{", "("):
            self.function_next = False
            self.functions.add(number)
            arm = 0
        if len(self.frames) < _NESTING:
            self.frames.append(_Frame(kind, number, arm, self.condition))
            self.condition = ()

    def pop(self, *kinds: str) -> None:
        for index in range(len(self.frames) - 1, -1, -1):
            if self.frames[index].kind in kinds:
                self.condition = self.frames[index].condition
                del self.frames[index:]
                return

    def top(self, *kinds: str) -> _Frame | None:
        return self.frames[-1] if self.frames and self.frames[-1].kind in kinds else None

    # -- statements --------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        text = self.text
        while self.at < self.end:
            before = self.at
            self.blanks()
            if self.at >= self.end:
                return
            if (case := self.top("case")) is not None and case.arm is None:
                self.pattern(case)
                continue
            character = text[self.at]
            if character in "\n;&|()":
                self.operator(character)
            else:
                self.statement()
            if self.at <= before:
                self.at = before + 1

    def blanks(self) -> None:
        blank = _BLANK.match(self.text, self.at, self.end)
        if blank is not None:
            self.at = blank.end()
        if self.at < self.end and self.text[self.at] == "#" and self.at not in self.holes:
            comment = _COMMENT.match(self.text, self.at, self.end)
            self.at = comment.end() if comment else self.at

    def operator(self, character: str) -> None:
        pair = self.text[self.at : self.at + 2]
        if pair in ("&&", "||"):
            self.at += 2
            self.condition = (*self.condition, (self.number(), 0))
            self.newlines()
        elif pair == ";;" or pair == ";&":
            self.at += 3 if self.text[self.at : self.at + 3] == ";;&" else 2
            self.condition = ()
            if (case := self.innermost("case")) is not None:
                case.arm = None
        elif character == "\n":
            self.at += 1
            self.heredocs()
            self.condition = ()
        elif character == "|":
            self.at += 2 if pair == "|&" else 1
            self.newlines()
        elif character == "(":
            if pair == "((":
                self.at = skip_parentheses(self.text, self.at, self.end)
            else:
                self.at += 1
                self.push("(", None)
        elif character == ")":
            self.at += 1
            self.pop("(")
        else:
            self.at += 1
            self.condition = ()

    def innermost(self, kind: str) -> _Frame | None:
        for index in range(len(self.frames) - 1, -1, -1):
            if self.frames[index].kind == kind:
                del self.frames[index + 1 :]
                return self.frames[index]
        return None

    def newlines(self) -> None:
        while True:
            self.blanks()
            if self.at < self.end and self.text[self.at] == "\n":
                self.at += 1
                self.heredocs()
            else:
                return

    def pattern(self, case: _Frame) -> None:
        """A pattern list of a case item, up to its `)`."""
        self.newlines()
        if self.text.startswith("esac", self.at):
            self.at += 4
            self.pop("case")
            return
        if self.at < self.end and self.text[self.at] == "(":
            self.at += 1
        while self.at < self.end and self.text[self.at] != ")":
            if self.text[self.at] == "\n":  # no pattern at all: not a case item
                break
            word = scan_word(self.text, self.at, self.end)
            self.at = max(word.end, self.at + 1)
        self.at = min(self.at + 1, self.end)
        case.arm = self.number()

    def statement(self) -> None:
        text, at = self.text, self.at
        function = _FUNCTION.match(text, at, self.end)
        if function is not None and not text.startswith(("if(", "while("), at):
            self.at = function.end()
            self.function_next = True
            return
        word = scan_word(text, at, self.end, self.holes)
        if self.keyword(text[word.start : word.end], word):
            return
        self.command()

    def keyword(self, spelled: str, word: Word) -> bool:
        if spelled in ("if", "while", "until", "{"):
            self.push(spelled, None)
        elif spelled == "then" and (frame := self.innermost("if")) is not None:
            frame.arm = self.number()
            self.condition = ()
        elif spelled == "elif" and (frame := self.innermost("if")) is not None:
            frame.arm = None
            self.condition = ()
        elif spelled == "else" and (frame := self.innermost("if")) is not None:
            frame.arm = self.number()
            self.condition = ()
        elif spelled == "do" and (frame := self.top("while", "until", "for")) is not None:
            frame.arm = 0
            self.condition = ()
        elif spelled in ("fi", "done", "}"):
            self.pop(*{"fi": ("if",), "done": ("while", "until", "for"), "}": ("{",)}[spelled])
        elif spelled == "esac":
            self.pop("case")
        elif spelled in ("for", "select"):
            self.at = word.end
            self.loop()
            return True
        elif spelled == "case":
            self.at = word.end
            self.blanks()
            self.at = scan_word(self.text, self.at, self.end, self.holes).end
            self.newlines()
            if self.text.startswith("in", self.at):
                self.at += 2
                self.push("case", None)
            return True
        elif spelled == "function":
            self.at = word.end
            self.blanks()
            self.at = scan_word(self.text, self.at, self.end).end
            self.blanks()
            if self.text.startswith("()", self.at):
                self.at += 2
            self.function_next = True
            return True
        elif spelled in ("!", "time", "coproc"):
            pass
        elif spelled == "[[":
            closing = self.text.find("]]", word.end, min(self.end, word.end + _TEST_LENGTH))
            if closing < 0:
                closing = word.end - 2
            self.at = min(closing + 2, self.end)
            return True
        else:
            return False
        self.at = word.end
        return True

    def loop(self) -> None:
        """`for NAME in WORDS`, `for ((…))`."""
        self.blanks()
        self.push("for", None)
        if self.text.startswith("((", self.at):
            self.at = skip_parentheses(self.text, self.at, self.end)
            return
        name = scan_word(self.text, self.at, self.end)
        if name.literal:
            self.assignments.append(Assignment(name.literal, name.start, self.branch()))
        self.at = name.end
        self.blanks()
        if self.text.startswith("in", self.at):
            self.at += 2
            while True:
                self.blanks()
                word = scan_word(self.text, self.at, self.end, self.holes)
                if word.end <= self.at:
                    return
                self.at = word.end

    def command(self) -> None:
        """A simple command, with its prefix assignments and redirections."""
        words: list[Word] = []
        prefix: list[Assignment] = []
        heredocs: list[Heredoc] = []
        start = last = self.at
        branch = self.branch()
        declares: str | None = None
        while True:
            self.blanks()
            if self.at >= self.end:
                break
            redirect = _REDIRECT.match(self.text, self.at, self.end)
            if redirect is not None and not self.text.startswith(("<(", ">("), self.at):
                self.redirect(redirect.group(1), redirect.end(), heredocs)
                continue
            if self.text[self.at] in "\n;&|()":
                break
            assign = _ASSIGN.match(self.text, self.at, self.end) if not words or declares else None
            if assign is not None:
                prefix.append(self.assignment(assign, branch, declares))
                last = self.at
                continue
            word = scan_word(self.text, self.at, self.end, self.holes)
            if word.end <= self.at:
                break
            if not words and word.literal in _DECLARE:
                declares = word.literal
            self.substitutions(word.parts, branch)
            words.append(word)
            self.at = last = word.end
        if words and _may_set(words):
            self.barriers.append(start)
        if declares or not words:
            self.assignments.extend(prefix)
            prefix = []
        elif words[0].literal in _READERS:
            for word in words[1:]:
                if word.literal and not word.literal.startswith("-"):
                    self.assignments.append(Assignment(word.literal, word.start, branch))
        if words and not declares:
            # heredocs fill in when their bodies are reached: the list is frozen at the end of the parse
            self.commands.append(Command(tuple(words), tuple(prefix), branch, start, last, heredocs))  # type: ignore[arg-type]

    def assignment(self, match: re.Match[str], branch: Branch, declares: str | None) -> Assignment:
        name, subscript, plus = match.groups()
        start = self.at
        self.at = match.end()
        exported = declares == "export"
        if self.at < self.end and self.text[self.at] == "(":
            return Assignment(name, start, branch, items=self.items(branch), append=bool(plus), exported=exported)
        value = scan_word(self.text, self.at, self.end, self.holes)
        self.substitutions(value.parts, branch)
        self.at = value.end
        if subscript:
            return Assignment(name, start, branch)
        return Assignment(name, start, branch, value, append=bool(plus), exported=exported)

    def items(self, branch: Branch) -> tuple[Word, ...]:
        """The words of `( … )`, comments left out."""
        self.at += 1
        found = []
        while self.at < self.end:
            self.newlines()
            if self.at >= self.end:
                break
            word = scan_word(self.text, self.at, self.end, self.holes)
            if word.end > self.at:
                self.substitutions(word.parts, branch)
                found.append(word)
                self.at = word.end
            else:
                self.at += 1
                if self.text[self.at - 1] == ")":
                    break
        return tuple(found)

    # -- redirections ------------------------------------------------------------------------------------------------------

    def redirect(self, operator: str, at: int, heredocs: list[Heredoc]) -> None:
        self.at = at
        blank = _BLANK.match(self.text, self.at, self.end)
        if blank is not None:
            self.at = blank.end()
        target = scan_word(self.text, self.at, self.end, self.holes)
        self.at = target.end
        if operator in ("<<", "<<-"):
            quoted = any(mark in self.text[target.start : target.end] for mark in "'\"\\")
            delimiter = "".join(part.value for part in target.parts)
            self.pending.append((delimiter, quoted, operator == "<<-", heredocs))

    def heredocs(self) -> None:
        """The bodies that begin at this line."""
        for delimiter, quoted, strip_tabs, owner in self.pending:
            start = self.at
            while True:
                line_end = self.text.find("\n", self.at, self.end)
                stop = self.end if line_end < 0 else line_end
                line = self.text[self.at : stop].rstrip("\r")
                if (line.lstrip("\t") if strip_tabs else line) == delimiter:
                    owner.append(Heredoc(start, self.at, quoted, strip_tabs))
                    self.at = min(stop + 1, self.end)
                    break
                if line_end < 0:
                    owner.append(Heredoc(start, self.end, quoted, strip_tabs))
                    self.at = self.end
                    break
                self.at = stop + 1
        self.pending = []

    # -- commands inside words ---------------------------------------------------------------------------------------------

    def substitutions(self, parts: tuple[Part, ...], branch: Branch) -> None:
        """`$( … )` holds commands too: `PID=$(nohup vllm serve … & echo $!)`."""
        for part in parts:
            if part.kind != OTHER or part.end - part.start < 12 or self.depth >= 3:
                continue
            raw = self.text[part.start : part.start + 3]
            if raw.startswith(("$(", "<(", ">(")) and raw != "$((":
                inner = _Parser(self.text, part.start + 2, part.end - 1, self.holes)
                inner.outer, inner.depth, inner.count = branch, self.depth + 1, self.count + 1
                inner.run()
                self.count = inner.count
                self.commands.extend(inner.commands)


_HARMLESS = re.compile(r"activate$|conda|bashrc|\bprofile|\bsetvars|/etc/|nvm\.sh|cargo/env")


def _may_set(words: list[Word]) -> bool:
    """Whether a command reads assignments from elsewhere."""
    name = words[0].literal
    if name in ("source", ".") and len(words) > 1:
        return _HARMLESS.search(words[1].literal or "") is None
    return name == "eval" and any(part.kind == OTHER for word in words[1:] for part in word.parts)


def parse(text: str, start: int, end: int, holes: Mapping[int, Hole] = NO_HOLES) -> Program:
    """The commands and assignments of `text[start:end]`, in source order."""
    parser = _Parser(text, start, end, holes)
    parser.run()
    commands = [command._replace(heredocs=tuple(command.heredocs)) for command in parser.commands]
    return Program(tuple(commands), tuple(parser.assignments), frozenset(parser.functions), tuple(parser.barriers))
