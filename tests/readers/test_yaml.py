"""Scalars of YAML and their places."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from preflight.readers.yamltree import Mapping, Scalar, Sequence, Tree
from preflight.text import VERBATIM, Document, Text, apply_edits


def tree(source: str) -> Tree:
    text = Text.of(Document("f", source), 0, len(source), VERBATIM)
    assert text is not None
    return Tree(text)


def scalars(node: object) -> list[Scalar]:
    if isinstance(node, Scalar):
        return [node]
    if isinstance(node, Sequence):
        return [found for item in node.items for found in scalars(item)]
    assert isinstance(node, Mapping)
    return [found for pair in node.pairs for item in pair for found in scalars(item)]


def plain(node: object) -> object:
    """A tree as PyYAML's base loader gives it: strings only."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    assert isinstance(node, Mapping)
    return {key.value: plain(value) for key, value in node.pairs}


SOURCES = [
    "a: plain text\n",
    "a: plain\n  on two\n\n  lines\n",
    "a: 'it''s'\n",
    "a: 'two\n  lines\n\n  more'\n",
    'a: "x\\ty \\u00e9 \\"q\\" \\\\"\n',
    'a: "two\n  lines \\\n  joined\n\n  more"\n',
    "a: |\n  one\n\n  two\n    three\n",
    "a: |-\n  one\n  two\n\n\nb: 1\n",
    "a: |+\n  one\n\n\nb: 1\n",
    "a: |2\n   one\n  two\n",
    "a: >\n  one\n  two\n\n  three\n    kept\n  four\n",
    "a: >-\n  one\n  two\n",
    "a: >+\n  one\n\n\n",
    "a: >\n\n  one\n   more\n\n  two\n",
    "a: | # comment\n  one\n",
    "- a\n- [b, \"c\", 'd']\n- {e: f}\n",
    "a: |\r\n  one\r\n  two\r\nb: c\r\n",
    'é: 😀 x\nb: "😀"\n',
    "a: |\n  last line without end",
    "a: \"\"\nb: ''\nc:\nd: |\n",
]


@pytest.mark.parametrize("source", SOURCES)
def test_every_scalar_is_read_as_pyyaml_reads_it_with_places(source: str) -> None:
    found = tree(source)
    assert found.problem is None
    assert plain(found.documents[0]) == yaml.load(source, Loader=yaml.BaseLoader)
    for scalar in scalars(found.documents[0]):
        text = scalar.text
        assert text.value == scalar.value
        if scalar.value:
            assert text.codec.decode(text.raw) is not None, "no places inside"


CHARACTERS = "ab 0:#-'\"\\\n\t[]{},&*!|>%@`é😀"


@given(st.text(alphabet=CHARACTERS, max_size=20), st.sampled_from([None, "'", '"', "|", ">"]))
def test_scalars_that_pyyaml_writes_have_places(value: str, style: str | None) -> None:
    source = yaml.dump({"k": [value]}, default_style=style, allow_unicode=True, width=12)
    found = tree(source)
    (scalar,) = [scalar for scalar in scalars(found.documents[0]) if scalar.value != "k"]
    assert scalar.value == value
    text = scalar.text
    if value.strip("\n"):
        assert text.codec.decode(text.raw) is not None, source


@given(
    st.sampled_from(SOURCES),
    st.integers(0, 30),
    st.integers(0, 30),
    st.text(alphabet="ab 0:#'\"\\\n,]é", max_size=6),
)
def test_an_edit_changes_the_one_scalar_as_meant(source: str, start: int, length: int, new: str) -> None:
    document = tree(source).documents[0]
    for number, scalar in enumerate(scalars(document)):
        value = scalar.value
        first = min(start, len(value))
        last = min(first + length, len(value))
        edit = scalar.text.replace(first, last, new)
        if edit is None:
            continue
        changed = apply_edits(source, [edit])
        after = tree(changed)
        assert after.problem is None, changed
        expected = [other.value for other in scalars(document)]
        expected[number] = value[:first] + new + value[last:]
        assert [other.value for other in scalars(after.documents[0])] == expected, changed
        yaml.load(changed, Loader=yaml.BaseLoader)


def test_an_edit_keeps_the_spelling_at_hand() -> None:
    for source, new, expected in [
        ("a: 8\n", "16", "a: 16\n"),
        ("a: auto\n", "8", 'a: "8"\n'),
        ("a: x\n", "p: q", 'a: "p: q"\n'),
        ("a: 'x'\n", "it's", "a: 'it''s'\n"),
        ('a: "x"\n', 'say "y"', 'a: "say \\"y\\""\n'),
        ("a: [x, y]\n", "p,q", 'a: ["p,q", y]\n'),
    ]:
        scalar = scalars(tree(source).documents[0])[1]
        edit = scalar.text.replace_all(new)
        assert edit is not None
        assert apply_edits(source, [edit]) == expected


def test_what_comes_before_a_syntax_error_is_read() -> None:
    found = tree("a: 1\nb:\n  - x\n<<<<<<< HEAD\nc: [\n")
    assert found.problem is not None
    assert found.problem.code == "CFG001"
    assert plain(found.documents[0]) == {"a": "1", "b": ["x"]} or "a" in str(plain(found.documents[0]))


def test_aliases_may_be_cyclic() -> None:
    found = tree("a: &x\n  b: *x\n")
    root = found.documents[0]
    assert isinstance(root, Mapping)


def test_deep_nesting_ends() -> None:
    assert tree("[" * 5000).documents is not None
    assert tree("- " * 5000).documents is not None
