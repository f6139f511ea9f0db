"""The structure of a shell script: simple commands, assignments and the branch in which each stands.

A walk over the tree of tree-sitter-bash, which goes on past what it cannot read. Only what is needed to find a launch and what
its variables hold is taken from it; where a word ends is for `shellwords` to say, since the grammar cuts words that it does not
know (`{{`, `=[`) in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from preflight.readers.grammar import parser
from preflight.readers.shelltree import Assignment, Branch, Command, Heredoc, Program
from preflight.readers.shellwords import MOST_WORDS, NO_HOLES, OTHER, PLACEHOLDER, Hole, Word, scan_word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\[[^\]\s]*\])?(\+?)=", re.ASCII)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_READERS = frozenset({"read", "mapfile", "readarray", "getopts"})
_HARMLESS = re.compile(r"activate$|conda|bashrc|\bprofile|\bsetvars|/etc/|nvm\.sh|cargo/env")
_DEPTH = 150
_LONGEST, _LONGEST_LINE, _MOST_COMMANDS = 200_000, 20_000, 20_000
"""What is longer was not written by hand (a payload), and is passed over."""
_TOO_LONG = re.compile(r"[^\n]{20000,}")


@cache
def _bash() -> Parser:
    return parser("bash")


def parse(text: str, start: int, end: int, holes: Mapping[int, Hole] = NO_HOLES) -> Program:
    """The commands and assignments of `text[start:end]`, in source order."""
    walk = _Walk(text, start, end, holes)
    walk.visit(_bash().parse(walk.masked().encode("ascii")).root_node, (), 0)
    commands = sorted(walk.commands, key=lambda command: command.start)
    assignments = sorted(walk.assignments, key=lambda assignment: assignment.start)
    return Program(tuple(commands), tuple(assignments), frozenset(walk.functions), tuple(sorted(walk.barriers)))


class _Walk:
    def __init__(self, text: str, start: int, end: int, holes: Mapping[int, Hole]) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.holes = holes
        self.limit = end
        """Where the words of a command end at the latest: the closing backtick is no start of another."""
        self.count = 0
        self.commands: list[Command] = []
        self.assignments: list[Assignment] = []
        self.functions: set[int] = set()
        self.barriers: list[int] = []

    def masked(self) -> str:
        """The text with a letter for each character that is not ASCII or stands in a hole: bytes are then characters."""
        source = self.text[self.start : self.end]
        if self.holes:
            pieces, at = [], self.start
            for hole in sorted(self.holes.values()):
                if self.start <= at <= hole.start and hole.end <= self.end:
                    pieces += [self.text[at : hole.start], "_" * (hole.end - hole.start)]
                    at = hole.end
            source = "".join([*pieces, self.text[at : self.end]])
        if "<" in source:
            source = PLACEHOLDER.sub(lambda match: "_" * len(match.group()), source)
        if len(source) > _LONGEST_LINE:
            source = _TOO_LONG.sub(lambda match: " " * len(match.group()), source[:_LONGEST])
        return source if source.isascii() else _FOREIGN.sub("_", source)

    def number(self) -> int:
        self.count += 1
        return self.count

    # -- statements --------------------------------------------------------------------------------------------------------

    def visit(self, node: Node, branch: Branch, depth: int, heredocs: tuple[Heredoc, ...] = ()) -> None:
        if depth > _DEPTH or len(self.commands) >= _MOST_COMMANDS:
            return
        kind = node.type
        if kind == "command":
            self.command(node, branch, depth, heredocs)
        elif kind in ("variable_assignment", "declaration_command"):
            self.declaration(node, branch, depth)
        elif kind == "list":
            self.chain(node, branch, depth)
        elif kind == "if_statement":
            self.condition(node, branch, depth)
        elif kind in ("else_clause", "case_item", "do_group"):
            self.children(node, (*branch, (self.number(), 0)), depth)
        elif kind == "case_statement":
            self.case(node, branch, depth)
        elif kind == "function_definition":
            number = self.number()
            self.functions.add(number)
            self.children(node, (*branch, (number, 0)), depth)
        elif kind == "redirected_statement":
            self.redirected(node, branch, depth)
        else:
            if kind == "for_statement" and (name := node.child_by_field_name("variable")) is not None:
                start = self.start + name.start_byte
                self.assignments.append(Assignment(self.text[start : self.start + name.end_byte], start, branch))
            self.children(node, branch, depth)

    def children(self, node: Node, branch: Branch, depth: int) -> None:
        for child in node.children:
            if child.child_count:
                self.visit(child, branch, depth + 1)

    def chain(self, node: Node, branch: Branch, depth: int) -> None:
        """`a && b`: what follows an operator depends on what stands before."""
        for child in node.children:
            if child.type in ("&&", "||"):
                branch = (*branch, (self.number(), 0))
            elif child.child_count:
                self.visit(child, branch, depth + 1)

    def condition(self, node: Node, branch: Branch, depth: int) -> None:
        number = self.number()
        inside, arm = branch, 0
        for child in node.children:
            if child.type == "then":
                inside = (*branch, (number, arm))
            elif child.type in ("elif_clause", "else_clause"):
                arm += 1
                self.arm(child, branch, number, arm, depth)
            elif child.child_count:
                self.visit(child, inside, depth + 1)

    def arm(self, node: Node, branch: Branch, number: int, arm: int, depth: int) -> None:
        """`elif` and `else` are arms of the same construct."""
        inside = branch if node.type == "elif_clause" else (*branch, (number, arm))
        for child in node.children:
            if child.type == "then":
                inside = (*branch, (number, arm))
            elif child.child_count:
                self.visit(child, inside, depth + 1)

    def case(self, node: Node, branch: Branch, depth: int) -> None:
        number = self.number()
        for arm, child in enumerate(node.children):
            if child.type == "case_item":
                self.children(child, (*branch, (number, arm)), depth)

    def redirected(self, node: Node, branch: Branch, depth: int) -> None:
        heredocs = tuple(self.heredocs(node))
        for child in node.children:
            if child.child_count:
                self.visit(child, branch, depth + 1, heredocs)

    def heredocs(self, node: Node) -> Iterator[Heredoc]:
        for child in node.children:
            if child.type != "heredoc_redirect":
                continue
            quoted, strip_tabs, body = False, False, None
            for part in child.children:
                if part.type == "<<-":
                    strip_tabs = True
                elif part.type == "heredoc_start":
                    word = self.text[self.start + part.start_byte : self.start + part.end_byte]
                    quoted = any(mark in word for mark in "'\"\\")
                elif part.type == "heredoc_body":
                    body = part
            if body is not None:
                yield Heredoc(self.start + body.start_byte, self.start + body.end_byte, quoted, strip_tabs)

    # -- commands ----------------------------------------------------------------------------------------------------------

    def command(self, node: Node, branch: Branch, depth: int, heredocs: tuple[Heredoc, ...]) -> None:
        words: list[Word] = []
        prefix: list[Assignment] = []
        end = self.limit
        for child in node.children:
            at = self.start + child.start_byte
            if child.type == "variable_assignment":
                found = self.assignment(child, branch, exported=False)
                prefix.extend([found] if found is not None else [])
            elif child.type.endswith("_redirect"):
                self.children(child, branch, depth)
            elif len(words) > MOST_WORDS:
                break
            elif (not words or at >= words[-1].end) and self.start + child.end_byte > at:
                word = scan_word(self.text, at, end, self.holes)
                if word.end > at:
                    words.append(word)
            self.substitutions(child, branch, depth)
        if not words:
            self.assignments.extend(prefix)
            return
        start = self.start + node.start_byte
        self.facts(words, branch, start)
        self.commands.append(Command(tuple(words), tuple(prefix), branch, start, words[-1].end, heredocs))

    def facts(self, words: list[Word], branch: Branch, start: int) -> None:
        """What a command does to variables."""
        name = words[0].literal
        if name in _READERS:
            for word in words[1:]:
                if word.literal and not word.literal.startswith("-"):
                    self.assignments.append(Assignment(word.literal, word.start, branch))
        if name in ("source", ".") and len(words) > 1 and _HARMLESS.search(words[1].literal or "") is None:
            self.barriers.append(start)
        if name == "eval" and any(part.kind == OTHER for word in words[1:] for part in word.parts):
            self.barriers.append(start)
        for word in words[1:] if name == ":" else ():
            for part in word.parts:
                if part.operator in ("=", ":="):  # : "${X:=default}"
                    self.assignments.append(Assignment(part.value, word.start, branch, Word(word.start, word.end, (part,))))

    def substitutions(self, node: Node, branch: Branch, depth: int) -> None:
        """`$( … )` holds commands too: `PID=$(nohup vllm serve … & echo $!)`."""
        if node.type in ("command_substitution", "process_substitution"):
            limit = self.limit
            if self.text.startswith("`", self.start + node.start_byte):
                closing = self.text.find("`", self.start + node.start_byte + 1, self.start + node.end_byte)
                self.limit = closing if closing >= 0 else limit
            self.children(node, branch, depth)
            self.limit = limit
        elif node.child_count and depth <= _DEPTH:
            for child in node.children:
                if child.child_count:
                    self.substitutions(child, branch, depth + 1)

    def declaration(self, node: Node, branch: Branch, depth: int) -> None:
        """`X=…`, `export X=…`, `local -a X=( … )`."""
        exported = node.type == "declaration_command" and node.children[0].type == "export"
        for child in [node] if node.type == "variable_assignment" else node.children:
            if child.type == "variable_assignment":
                found = self.assignment(child, branch, exported=exported)
                if found is not None:
                    self.assignments.append(found)
            self.substitutions(child, branch, depth)

    def assignment(self, node: Node, branch: Branch, *, exported: bool) -> Assignment | None:
        start, end = self.start + node.start_byte, self.start + node.end_byte
        match = _ASSIGN.match(self.text, start, end)
        if match is None:
            return None
        name, subscript, plus = match.groups()
        value = node.child_by_field_name("value")
        if value is not None and value.type == "array":
            items = tuple(self.items(value))
            return Assignment(name, start, branch, items=items, append=bool(plus), exported=exported)
        if subscript:
            return Assignment(name, start, branch)
        word = scan_word(self.text, match.end(), max(end, match.end()), self.holes)
        return Assignment(name, start, branch, word, append=bool(plus), exported=exported)

    def items(self, node: Node) -> Iterator[Word]:
        """The words of `( … )`, comments left out."""
        last = -1
        for child in node.children:
            at = self.start + child.start_byte
            if child.type in ("(", ")", "comment") or at < last:
                continue
            word = scan_word(self.text, at, self.start + node.end_byte, self.holes)
            last = word.end
            if word.end > at:
                yield word
