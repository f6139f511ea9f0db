from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import given
from hypothesis import strategies as st

from preflight.diagnostics import DISPLAY, ERROR, NOTE, SAFE, UNSAFE, Diagnostic, Fix, Rule
from preflight.fix import Documents, Fixed, applies, apply, bugs, choose, fix_all, overlap, summary
from preflight.text import Document, Edit, Place, Span

ONE = Rule("FLG001", "one", ERROR)
TWO = Rule("FLG002", "two", ERROR)


def docs(**texts: str) -> Documents:
    return {name: Document(name, text) for name, text in texts.items()}


def found(document: Document, *fixes: Fix, rule: Rule = ONE, start: int = 0) -> Diagnostic:
    return Diagnostic(rule, rule.severity, None, "m", Place(document, Span(start, start)), fixes=fixes)


def fix(*edits: tuple[str, int, int, str], kind: str = SAFE) -> Fix:
    return Fix("Do it", tuple(Edit(path, Span(start, end), text) for path, start, end, text in edits), kind)


def swap(old: str, new: str, rule: Rule = ONE, kind: str = SAFE) -> Callable[[Documents], list[Diagnostic]]:
    """A lint that reports each `old` and offers `new`."""

    def lint(documents: Documents) -> list[Diagnostic]:
        return [
            found(document, fix((path, start, start + len(old), new), kind=kind), rule=rule, start=start)
            for path, document in documents.items()
            for start in range(len(document.text))
            if document.text.startswith(old, start)
        ]

    return lint


def both(*lints: Callable[[Documents], list[Diagnostic]]) -> Callable[[Documents], list[Diagnostic]]:
    return lambda documents: [diagnostic for lint in lints for diagnostic in lint(documents)]


def run(
    lint: Callable[[Documents], Iterable[Diagnostic]],
    documents: Documents,
    parses: Callable[[Document], bool] = lambda _: True,
    unsafe: bool = False,
) -> Fixed:
    return fix_all(documents, lint(documents), lint, parses, unsafe=unsafe)


def texts(documents: Documents) -> dict[str, str]:
    return {path: document.text for path, document in documents.items()}


def test_safe_fixes_apply_and_unsafe_ones_wait() -> None:
    lint = both(swap("a", "A"), swap("b", "B", TWO, UNSAFE), swap("c", "C", TWO, DISPLAY))
    fixed = run(lint, docs(f="a b c a"))
    assert texts(fixed.documents) == {"f": "A b c A"}
    assert fixed.applied == ("FLG001", "FLG001")
    assert summary(fixed) == "2 fixed, 2 left, 1 more with --unsafe-fixes"


def test_unsafe_switch_applies_both_but_never_what_is_only_shown() -> None:
    lint = both(swap("a", "A"), swap("b", "B", TWO, UNSAFE), swap("c", "C", TWO, DISPLAY))
    fixed = run(lint, docs(f="a b c a"), unsafe=True)
    assert texts(fixed.documents) == {"f": "A B c A"}
    assert summary(fixed, unsafe=True) == "3 fixed, 1 left"


def test_notes_are_not_counted_as_left() -> None:
    documents = docs(f="a")
    note = found(documents["f"])._replace(severity=NOTE)
    assert summary(Fixed(documents, (note,))) == "0 fixed, 0 left"


def test_a_safe_fix_is_preferred_to_an_unsafe_one() -> None:
    documents = docs(f="abc")
    unsafe, safe = fix(("f", 0, 1, "x"), kind=UNSAFE), fix(("f", 1, 2, "y"))
    diagnostic = found(documents["f"], unsafe, safe)
    assert choose([diagnostic], documents, unsafe=True) == [(diagnostic, safe)]
    assert choose([found(documents["f"], unsafe)], documents, unsafe=False) == []


def test_overlapping_fixes_take_a_round_each() -> None:
    # `aa` is found at 0 and at 1; only the first of them applies, and then nothing is left.
    fixed = run(swap("aa", "b"), docs(f="aaa"))
    assert texts(fixed.documents) == {"f": "ba"}
    assert fixed.applied == ("FLG001",)


def test_fixes_are_applied_in_the_order_of_their_places() -> None:
    documents = docs(f="abcdef")
    late, early = found(documents["f"], fix(("f", 3, 5, "L"))), found(documents["f"], fix(("f", 2, 4, "E")))
    chosen = choose([late, early], documents, unsafe=False)
    assert chosen == [(early, early.fixes[0])]


def test_all_edits_of_a_fix_apply_or_none() -> None:
    documents = docs(f="abcdef", g="xyz")
    first = found(documents["f"], fix(("f", 0, 2, "1"), ("g", 0, 1, "1")))
    second = found(documents["f"], fix(("f", 4, 5, "2"), ("g", 0, 2, "2")))  # meets the first in g
    chosen = choose([first, second], documents, unsafe=False)
    assert chosen == [(first, first.fixes[0])]
    assert texts(apply(documents, [one for _, one in chosen])) == {"f": "1cdef", "g": "1yz"}


def test_a_fix_that_two_findings_share_is_applied_once_for_both() -> None:
    documents = docs(f="ab")
    shared = fix(("f", 2, 2, "!"))
    lint = lambda given: [] if "!" in given["f"].text else [found(given["f"], shared), found(given["f"], shared, rule=TWO)]  # noqa: E731
    fixed = run(lint, documents)
    assert texts(fixed.documents) == {"f": "ab!"}
    assert fixed.applied == ("FLG001", "FLG002")


def test_a_fix_of_a_file_that_is_not_linted_is_left_alone() -> None:
    documents = docs(f="ab")
    elsewhere = fix(("f", 0, 1, "x"), ("values.yaml", 0, 1, "x"))
    assert not applies(elsewhere, documents)
    fixed = run(lambda given: [found(given["f"], elsewhere)], documents)
    assert texts(fixed.documents) == {"f": "ab"}
    assert summary(fixed) == "0 fixed, 1 left"


def test_what_cannot_be_applied_is_not() -> None:
    documents = docs(f="ab")
    assert not applies(fix(("f", 1, 3, "x")), documents)  # past the end
    assert not applies(fix(("f", 2, 1, "x")), documents)  # backwards
    assert not applies(fix(("f", 0, 1, "a")), documents)  # changes nothing
    assert not applies(fix(("f", 0, 1, "\ud800")), documents)  # cannot be written
    assert not applies(fix(("f", 0, 2, "x"), ("f", 1, 2, "y")), documents)  # overlaps itself
    assert not applies(fix(), documents)
    assert applies(fix(("f", 0, 1, "x"), ("f", 1, 2, "y")), documents)


def test_insertions_at_a_border_overlap() -> None:
    def at(start: int, end: int) -> Edit:
        return Edit("f", Span(start, end), "x")

    assert overlap(at(1, 1), at(1, 1))
    assert overlap(at(1, 1), at(1, 3))
    assert overlap(at(3, 3), at(1, 3))
    assert not overlap(at(4, 4), at(1, 3))
    assert overlap(at(0, 2), at(1, 3))
    assert not overlap(at(0, 1), at(1, 3))
    assert not overlap(at(0, 2), Edit("g", Span(0, 2), "x"))


def test_a_rule_that_does_not_settle_is_named_after_ten_rounds() -> None:
    lint = both(swap("a", "aa", TWO), swap("x", "y"))
    fixed = run(lint, docs(f="xa"))
    # One `a` becomes two, two become four: 2 ** 10 of them after ten rounds.
    assert texts(fixed.documents) == {"f": "y" + "a" * 1024}
    assert fixed.unsettled == ("FLG002",)
    assert list(bugs(fixed)) == ["internal error: the fixes of FLG002 do not settle after 10 rounds"]


def test_rounds_that_end_in_time_are_settled() -> None:
    steps = [swap(str(digit), str(digit + 1)) for digit in range(9)]
    fixed = run(both(*steps), docs(f="0"))
    assert texts(fixed.documents) == {"f": "9"}
    assert fixed.applied == ("FLG001",) * 9
    assert list(bugs(fixed)) == []


def test_the_last_text_that_parses_is_kept() -> None:
    lint = both(swap("a", "b"), swap("b", "(", TWO))
    fixed = run(lint, docs(f="a", g="a"), parses=lambda document: "(" not in document.text)
    assert texts(fixed.documents) == {"f": "b", "g": "b"}
    assert fixed.applied == ("FLG001", "FLG001")
    assert [diagnostic.rule for diagnostic in fixed.diagnostics] == [TWO, TWO]
    assert list(bugs(fixed)) == ["internal error: a fix of FLG002 made a file that does not parse; it was taken back"]


def test_a_file_that_never_parsed_is_still_fixed() -> None:
    fixed = run(swap("a", "b"), docs(f="( a"), parses=lambda document: "(" not in document.text)
    assert texts(fixed.documents) == {"f": "( b"}
    assert fixed.broken == ()


def test_the_byte_order_mark_and_line_ends_stay() -> None:
    document = Document.from_bytes("f", b"\xef\xbb\xbfa\r\na\rb\n\xe2\x80\xa8")
    fixed = run(swap("a", "A"), {"f": document})
    assert fixed.documents["f"].to_bytes() == b"\xef\xbb\xbfA\r\nA\rb\n\xe2\x80\xa8"


def test_untouched_documents_stay_the_same_objects() -> None:
    documents = docs(f="a", g="b")
    fixed = run(swap("a", "A"), documents)
    assert fixed.documents["g"] is documents["g"]


@st.composite
def offered(draw: st.DrawFn) -> tuple[str, list[Fix]]:
    text = draw(st.text("abc\n\r", max_size=20))
    edits = st.builds(
        lambda start, length, new: ("f", min(start, len(text)), min(start + length, len(text)), new),
        st.integers(0, 20),
        st.integers(0, 5),
        st.text("XYZ", max_size=3),
    )
    return text, draw(st.lists(st.lists(edits, min_size=1, max_size=3).map(lambda made: fix(*made)), max_size=8))


@given(offered())
def test_chosen_fixes_never_touch_and_each_is_whole(case: tuple[str, list[Fix]]) -> None:
    text, fixes = case
    documents = docs(f=text)
    chosen = [one for _, one in choose([found(documents["f"], each) for each in fixes], documents, unsafe=False)]
    groups = list(dict.fromkeys(one.edits for one in chosen))
    assert not any(
        overlap(one, other)
        for number, group in enumerate(groups)
        for one in group
        for before in groups[:number]
        for other in before
    )
    edits = [edit for group in groups for edit in group]
    # Applied from left to right, with everything between the edits as it was.
    expected, position = "", 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        expected += text[position : edit.span.start] + edit.text
        position = edit.span.end
    assert apply(documents, chosen)["f"].text == expected + text[position:]


def test_an_insertion_beside_a_deletion_of_the_same_fix_applies() -> None:
    beside = fix(("f", 0, 3, ""), ("f", 3, 3, "new"))
    documents = docs(f="old!")
    assert [one for _, one in choose([found(documents["f"], beside)], documents, unsafe=False)] == [beside]
    assert apply(documents, [beside])["f"].text == "new!"
    inside = fix(("f", 0, 3, ""), ("f", 2, 2, "new"))
    assert choose([found(documents["f"], inside)], documents, unsafe=False) == []


@given(st.text("abcde", max_size=12), st.lists(st.tuples(st.sampled_from("abcde"), st.text("cdeF", max_size=1)), max_size=4))
def test_fixing_twice_changes_nothing(text: str, swaps: list[tuple[str, str]]) -> None:
    lint = both(*(swap(old, new) for old, new in swaps))
    fixed = run(lint, docs(f=text))
    if fixed.unsettled:
        return
    again = run(lint, fixed.documents)
    assert texts(again.documents) == texts(fixed.documents)
    assert again.applied == ()
