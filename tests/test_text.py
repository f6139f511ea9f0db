"""Text keeps the way back to the source through every layer."""

from hypothesis import given
from hypothesis import strategies as st

from preflight.text import Decoded, Document, LineIndex, Span, Text, apply_edits


class Doubled:
    """A layer in which every character stands twice, inside angle brackets."""

    def decode(self, raw: str) -> Decoded | None:
        body = raw[1:-1]
        if raw[:1] != "<" or raw[-1:] != ">" or len(body) % 2 or any(body[i] != body[i + 1] for i in range(0, len(body), 2)):
            return None
        starts = [1 + 2 * i for i in range(len(body) // 2 + 1)]
        return Decoded(body[::2], 0, starts, [start + 2 for start in starts[:-1]])

    def encode(self, fragment: str) -> str | None:
        return None if "!" in fragment else "".join(2 * character for character in fragment)


def test_an_edit_two_layers_deep_lands_on_the_right_characters() -> None:
    document = Document("f", "x = <<<aabb>>>aabb>")
    outer = Text.of(document, 4, 19, Doubled())
    assert outer is None  # "<<aabb>>aabb" is not doubled throughout
    document = Document("f", "x = <aa<<bbcc>>dd> # end")
    outer = Text.of(document, 4, 18, Doubled())
    assert outer is not None
    assert outer.value == "a<bc>d"
    inner = outer.inner(2, 4)
    assert inner is not None
    assert inner.value == "bc"
    assert inner.place.span == Span(9, 13)
    edit = inner.replace_all("Z")
    assert edit is not None
    assert apply_edits(document.text, [edit]) == "x = <aa<<ZZ>>dd> # end"


def test_an_edit_that_a_layer_cannot_spell_is_not_offered() -> None:
    text = Text.of(Document("f", "<aa>"), 0, 4, Doubled())
    assert text is not None
    assert text.replace_all("!") is None


def test_lines_end_at_the_three_line_ends_only() -> None:
    lines = LineIndex("a\r\nb\rc\nd\x0be\u2028f")
    assert lines.line_count == 4
    assert lines.position(3) == (2, 1)
    assert lines.position(5) == (3, 1)
    assert lines.position(11) == (4, 5)


@given(st.text(alphabet="a\r\n\U0001f600\x0b\u2028", max_size=40))
def test_positions_round_trip(text: str) -> None:
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        assert lines.offset(*lines.position(offset)) == offset


def test_a_byte_order_mark_survives() -> None:
    document = Document.from_bytes("f", b"\xef\xbb\xbfa = 1\r\n")
    assert document.text == "a = 1\r\n"
    assert document.to_bytes() == b"\xef\xbb\xbfa = 1\r\n"
