"""Every key and value has its place; where only tomli can read a statement, the line of the key."""

import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.diagnostics import Problem
from preflight.readers.toml import Toml, load, locate
from preflight.readers.toml_scan import Item
from preflight.text import Document
from tests.toml import CASES


def read(text: str) -> Toml:
    document = Document("launch.toml", text)
    data = load(document)
    assert isinstance(data, dict), data
    return locate(document, data)


def at(toml: Toml, *path: str | int) -> Item:
    item = toml.root
    for step in path:
        item = (item.elements or [])[step] if isinstance(step, int) else (item.entries or {})[step]
    return item


def written(item: Item) -> str:
    return item.place.document.text[item.place.span.start : item.place.span.end]


def key(item: Item) -> str:
    span = item.key_place.span
    return item.place.document.text[span.start : span.end]


EVERY_FORM = """\
engine = "sglang" # why
"a b".'c'.d = 1
[flags]
tp-size = 8
both = { a = 0x1F, "b" = [1, 'two', ] }
text = \"\"\"
first "quoted"
second\"\"\"
[hardware.sub]
when = 1979-05-27T07:32:00Z
[[launch]]
name = "one"
[launch.env]
A = "1"
[[launch]]
name = "two"
"""


def test_values_of_every_form_have_their_places() -> None:
    toml = read(EVERY_FORM)
    assert written(at(toml, "engine")) == '"sglang"'
    assert (key(at(toml, "a b", "c", "d")), written(at(toml, "a b", "c", "d"))) == ("d", "1")
    assert key(at(toml, "a b")) == '"a b"'
    assert written(at(toml, "flags", "both")) == "{ a = 0x1F, \"b\" = [1, 'two', ] }"
    assert written(at(toml, "flags", "both", "a")) == "0x1F"
    assert written(at(toml, "flags", "both", "b", 1)) == "'two'"
    assert written(at(toml, "flags", "text")).endswith('second"""')
    assert written(at(toml, "hardware", "sub", "when")) == "1979-05-27T07:32:00Z"
    assert written(at(toml, "launch", 0, "env", "A")) == '"1"'
    assert written(at(toml, "launch", 1, "name")) == '"two"'
    assert written(at(toml, "flags")) == "[flags]"


def test_line_ends_marks_and_emoji_move_nothing() -> None:
    document = Document.from_bytes(
        "launch.toml", b'\xef\xbb\xbf# \xf0\x9f\x98\x80\r\n"\xf0\x9f\x98\x80" = "\xc3\xa9\xc3\xa9"\r\nlast = [2]'
    )
    data = load(document)
    assert isinstance(data, dict)
    toml = locate(document, data)
    assert (key(at(toml, "😀")), written(at(toml, "😀"))) == ('"😀"', '"éé"')
    assert written(at(toml, "last", 0)) == "2"


def test_what_the_grammar_does_not_know_is_placed_on_its_line_and_spoils_nothing_else() -> None:
    toml = read('a = 1\n[t]\nb = {x = 1,\n  y = 2}\nc = "\\e"\nd = "after"\n[[l]]\ne = 07:32\n[[l]]\nf = [1]\n')
    assert (written(at(toml, "t", "b", "y")), at(toml, "t", "b", "y").exact) == ("b = {x = 1,", False)
    assert (written(at(toml, "t", "c")), at(toml, "t", "c").value) == ('c = "\\e"', "\x1b")
    assert (written(at(toml, "t", "d")), at(toml, "t", "d").exact) == ('"after"', True)
    assert written(at(toml, "l", 0, "e")) == "e = 07:32"
    assert written(at(toml, "l", 1, "f", 0)) == "1"


def problem(text: str) -> Problem:
    found = load(Document("launch.toml", text))
    assert isinstance(found, Problem)
    return found


def test_a_syntax_error_is_placed_where_reading_stopped() -> None:
    found = problem('a = 1\r\nb = "x\r\nc = 1\r\n')
    assert found.code == "CFG001"
    assert found.finding.at.document.lines.position(found.finding.at.span.start) == (2, 7)


def test_a_key_given_twice_shows_both_places() -> None:
    for text, second, first in (
        ("a = 1\nb = 2\na = 3\n", (12, 13), (0, 1)),
        ("[a]\n[b]\n[a]\n", (9, 10), (1, 2)),
        ("[[a]]\n[a]\n", (7, 8), (2, 3)),
        ("a = {b = 1, b = 2}\n", (12, 13), (5, 6)),
        ("[x]\na.b = 1\n[x.a]\n", (13, 16), (4, 7)),
        ("a = 1\r\na = 2", (7, 8), (0, 1)),
    ):
        found = problem(text)
        assert found.code == "CFG004", text
        assert tuple(found.finding.at.span) == second, text
        assert [tuple(related.place.span) for related in found.finding.related] == [first], text


def test_nesting_and_numbers_beyond_reading_are_problems() -> None:
    assert problem("a = " + "[" * 5000).code == "CFG001"
    assert tuple(problem("a = " + "9" * 5000).finding.at.span) == (4, 5004)
    deep = "a = " + "[" * 200 + "]" * 200
    assert at(read(deep), "a").place.span == (4, 404)


KEYS = st.sampled_from(["a", "b-c", "d_e", '"q k"', "'l'", '"é😀"', "1"])
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def _basic(text: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08X}" if c < " " or c in '"\\\x7f' else c for c in text) + '"'


VALUES = st.recursive(
    st.one_of(
        STRINGS.map(_basic),
        STRINGS.filter(lambda text: text.isprintable() and "'" not in text).map(lambda text: f"'{text}'"),
        st.integers(-(10**6), 10**12).map(str),
        st.floats(allow_nan=False, allow_infinity=False).map(repr).filter(lambda text: "e" not in text),
        st.sampled_from(
            ["true", "false", "0xFF", "1_000", "inf", "1979-05-27", "07:32:00", '"""\nx"""', "'''\r\ny\r\n'''", "[]", "{}"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda values: "[" + ", ".join(values) + "]"),
        st.lists(inner, max_size=3).map(lambda values: "[\n  " + ",\n  # c\n  ".join(values) + "\n]"),
        st.dictionaries(KEYS, inner, max_size=3).map(lambda t: "{" + ", ".join(f"{k} = {v}" for k, v in t.items()) + "}"),
    ),
    max_leaves=6,
)
PAIRS = st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}")
LINES = st.one_of(PAIRS, st.sampled_from(["# note", "", "[t]", "[t.u]", "[[l]]", "[[l]] # c", "[l.m]", "x.y = 1", "  [v]"]))
FILES = st.tuples(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"])).map(lambda parts: parts[1].join(parts[0]))


def leaves(item: Item) -> list[Item]:
    inner = list((item.entries or {}).values()) if item.entries is not None else item.elements
    return [item] if inner is None else [leaf for one in inner for leaf in leaves(one)]


@settings(max_examples=CASES, deadline=None)
@given(FILES)
def test_places_slice_to_what_tomli_reads_there(text: str) -> None:
    document = Document("launch.toml", text)
    data = load(document)
    if isinstance(data, Problem):
        return
    toml = locate(document, data)
    for leaf in leaves(toml.root):
        if leaf is toml.root:
            continue
        span = leaf.place.span
        assert 0 <= span.start <= span.end <= len(text)
        if leaf.exact:
            assert repr(tomli.loads("x = " + text[span.start : span.end])["x"]) == repr(leaf.value)
            if leaf.key is not None:
                assert text[leaf.key.span.end : span.start].strip(" \t") == "="
        if isinstance(leaf.value, str) and leaf.exact:
            assert leaf.text is not None
            assert leaf.text.value == leaf.value
    assert all(leaf.exact for leaf in leaves(toml.root) if leaf is not toml.root)  # all forms here are those of TOML 1.0


@settings(max_examples=CASES, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text("ab=[]{}.\"'#\n\r\t 1\\", max_size=40)))
def test_no_text_crashes_the_reader(text: str) -> None:
    document = Document("launch.toml", text)
    data = load(document)
    if isinstance(data, dict):
        locate(document, data)
    else:
        assert 0 <= data.finding.at.span.start <= data.finding.at.span.end <= len(text)
