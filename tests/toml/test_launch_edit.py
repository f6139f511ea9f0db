"""Flags are added and taken out in the file's own form, and nothing else changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.launch import LaunchSite
from preflight.readers.launch_edit import toml_value
from preflight.readers.launch_file import read
from preflight.text import Document, Edit, apply_edits
from tests.toml import CASES


def sites(text: str) -> tuple[LaunchSite, ...]:
    return read(Document("launch.toml", text)).sites


def inserted(text: str, flag: str, *values: str, launch: int = 0) -> str:
    edit = sites(text)[launch].editor.insert(flag, values)
    assert edit is not None
    return apply_edits(text, [edit])


def deleted(text: str, first: int, last: int, launch: int = 0) -> str:
    edit = sites(text)[launch].editor.delete(first, last)
    assert edit is not None
    return apply_edits(text, [edit])


HEAD = 'engine = "sglang"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD + "[flags]\na-b = 1 # c\n\n[env]\n", HEAD + "[flags]\na-b = 1 # c\nx-y = 2\n\n[env]\n"),
        (HEAD + "[flags]\n  a_b = 1", HEAD + "[flags]\n  a_b = 1\n  x_y = 2"),
        (HEAD + "[flags] # c\n[env]\n", HEAD + "[flags] # c\nx-y = 2\n[env]\n"),
        (HEAD + "flags = { a-b = 1 } # c", HEAD + "flags = { a-b = 1, x-y = 2 } # c"),
        (HEAD + "flags = {}", HEAD + "flags = { x-y = 2 }"),
        (HEAD + "flags.a-b = [\n 1 ]\n[env]\n", HEAD + "flags.a-b = [\n 1 ]\nflags.x-y = 2\n[env]\n"),
        (HEAD, HEAD + "\n[flags]\nx-y = 2\n"),
        ('engine = "sglang"\r\n[env]\r\nA = "1"', 'engine = "sglang"\r\n[env]\r\nA = "1"\r\n\r\n[flags]\r\nx-y = 2\r\n'),
        (HEAD + "[flags]\nx-y = false # c\n", HEAD + "[flags]\nx-y = 2 # c\n"),
        (HEAD + "[flags]\na-b = 1\n[flags.j]\nk = 1\n", HEAD + "[flags]\na-b = 1\nx-y = 2\n[flags.j]\nk = 1\n"),
        (HEAD + "launch = [{ name = 'a' }]", HEAD + "launch = [{ name = 'a', flags = { x-y = 2 } }]"),
        (
            HEAD + "[[launch]]\nname = 'a'\n[launch.env]\n[[launch]]\n",
            HEAD + "[[launch]]\nname = 'a'\n\n[launch.flags]\nx-y = 2\n\n[launch.env]\n[[launch]]\n",
        ),
    ],
)
def test_a_flag_is_added_in_the_form_of_the_file(before: str, after: str) -> None:
    assert inserted(before, "--x-y", "2") == after


def test_a_flag_is_added_to_its_own_launch() -> None:
    text = HEAD + "[flags]\na = 1\n[[launch]]\n[launch.flags]\nb = 1\n[[launch]]\nname = 'two'\n"
    assert inserted(text, "--a", "2", launch=0) == text.replace("b = 1\n", "b = 1\na = 2\n")
    assert inserted(text, "--a", "2", launch=1) == text + "\n[launch.flags]\na = 2\n"


def test_values_are_spelled_as_they_would_be_by_hand() -> None:
    assert toml_value([]) == "true"
    assert toml_value(["0.845"]) == "0.845"
    assert toml_value(["007"]) == '"007"'
    assert toml_value(["fa3"]) == '"fa3"'
    assert toml_value(['{"a": 1}']) == "'{\"a\": 1}'"
    assert toml_value(["1", "x"]) == '[1, "x"]'
    assert toml_value(["true"]) == '"true"'


def test_a_flag_that_is_there_is_not_added() -> None:
    assert sites(HEAD + "flags.a = 1")[0].editor.insert("--a", ["2"]) is None


@pytest.mark.parametrize(
    ("before", "tokens", "after"),
    [
        (HEAD + "[flags]\na = 1\nb = 2\n", (0, 1), HEAD + "[flags]\nb = 2\n"),
        (HEAD + "[flags]\na = 1\nb = true", (2, 2), HEAD + "[flags]\na = 1\n"),
        (HEAD + "[flags]\n  a = 1 # why\nb = 2\n", (0, 1), HEAD + "[flags]\n  # why\nb = 2\n"),
        (HEAD + "flags = { a = 1, b = 2, c = 3 }", (0, 1), HEAD + "flags = { b = 2, c = 3 }"),
        (HEAD + "flags = { a = 1, b = 2, c = 3 }", (2, 3), HEAD + "flags = { a = 1, c = 3 }"),
        (HEAD + "flags = { a = 1, b = 2, c = 3 }", (4, 5), HEAD + "flags = { a = 1, b = 2 }"),
        (HEAD + "flags.a = [\n  1, # x\n  2,\n]\nflags.b = 2\n", (0, 2), HEAD + "flags.b = 2\n"),
        (HEAD + "[flags]\r\na = 1\r\nb = 2\r\n", (2, 3), HEAD + "[flags]\r\na = 1\r\n"),
    ],
)
def test_a_flag_is_taken_out_with_its_line_or_comma(before: str, tokens: tuple[int, int], after: str) -> None:
    assert deleted(before, *tokens) == after


def test_a_flag_that_hides_a_shared_one_is_not_taken_out() -> None:
    """The launch would then have the shared value, not none."""
    text = HEAD + "[flags]\na-b = 1\n[[launch]]\n[launch.flags]\na_b = 2\nc = 3\n"
    (site,) = sites(text)
    words = [token.value for token in site.argv]
    assert words == ["--a-b", "2", "--c", "3"]
    assert site.editor.delete(0, 1) is None
    assert deleted(text, 2, 3) == text.replace("c = 3\n", "")


def test_a_default_of_several_launches_is_not_taken_out_for_one() -> None:
    text = HEAD + "[flags]\na = 1\n[[launch]]\n[[launch]]\n"
    assert sites(text)[0].editor.delete(0, 1) is None
    assert deleted(HEAD + "[flags]\na = 1\n[[launch]]\n", 0, 1) == HEAD + "[flags]\n[[launch]]\n"


def replaced(text: str, token: int, new: str) -> str | None:
    edit = sites(text)[0].argv[token].replace(new)
    return None if edit is None else apply_edits(text, [edit])


def test_replacing_keeps_valid_toml() -> None:
    assert replaced(HEAD + "flags.a = 8 # c", 1, "4") == HEAD + "flags.a = 4 # c"
    assert replaced(HEAD + "flags.a = 8", 1, "auto") == HEAD + 'flags.a = "auto"'
    assert replaced(HEAD + "flags.a = 'x'", 1, "auto") == HEAD + "flags.a = 'auto'"
    assert replaced(HEAD + "flags.a = 'x'", 1, "it's") is None
    assert replaced(HEAD + 'flags.a = "x"', 1, '"\\\n') == HEAD + 'flags.a = "\\"\\\\\\n"'
    assert replaced(HEAD + "flags.tp_size = 1", 0, "--tensor-parallel-size") == HEAD + "flags.tensor_parallel_size = 1"
    assert replaced(HEAD + "flags.'a' = 1", 0, "--b.c") == HEAD + 'flags."b.c" = 1'
    assert replaced(HEAD + "flags.a = { b = 1 }", 1, "x") is None


FLAGS = st.dictionaries(
    st.sampled_from(["a", "b-c", "d_e", '"q k"', "mem-fraction-static"]),
    st.sampled_from(["1", "0.5", '"x"', "'y'", "true", "false", "[1, 2]", "[\n  1, # c\n]", '"""\nz"""', "{ k = 1 }", "[]"]),
    max_size=4,
)
WORDS = st.lists(st.one_of(st.sampled_from(["1", "0.5", "-1", "auto"]), st.text(max_size=4)), max_size=3)


def _file(flags: dict[str, str], form: str, newline: str, rest: str) -> str:
    lines = [f"{key} = {value}" for key, value in flags.items()]
    if form == "header":
        body = ["[flags] # c", *(f"  {line} # d" for line in lines), ""]
    elif form == "dotted":
        body = [f"flags.{line}" for line in lines]
    elif form == "inline":
        body = ["flags = { " + ", ".join(line for line in lines if "\n" not in line) + " } # e"]
    else:
        body = ["[[launch]]", "name = 'l'", "[launch.flags]", *lines]
    return newline.join(['engine = "sglang"', *body, rest]).replace("\r\n", "\n").replace("\n", newline)


FILES = st.builds(
    _file,
    FLAGS,
    st.sampled_from(["header", "dotted", "inline", "launch"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "# end", "\n[env]\nA = '😀'\n"]),
)


@settings(max_examples=CASES, deadline=None)
@given(FILES, WORDS)
def test_an_added_flag_reads_back_and_all_else_stays(text: str, values: list[str]) -> None:
    (site,) = sites(text)
    edit = site.editor.insert("--new-flag", values)
    assert edit is not None
    assert edit.span.start == edit.span.end or text[edit.span.start : edit.span.end].strip("{} ") == ""
    (after,) = sites(apply_edits(text, [edit]))
    words = [token.value for token in after.argv]
    start = words.index("--new-flag")
    assert words[start : start + 1 + len(values)] == ["--new-flag", *values]
    assert words[:start] + words[start + 1 + len(values) :] == [token.value for token in site.argv]


@settings(max_examples=CASES, deadline=None)
@given(FILES, st.integers(0, 6))
def test_a_flag_taken_out_is_gone_and_all_else_stays(text: str, which: int) -> None:
    (site,) = sites(text)
    starts = [index for index, token in enumerate(site.argv) if (token.value or "").startswith("--")]
    if which >= len(starts):
        return
    first = starts[which]
    last = [*starts, len(site.argv)][which + 1] - 1
    edit = site.editor.delete(first, last)
    assert edit is not None
    assert edit.text == ""
    (after,) = sites(apply_edits(text, [edit]))
    words = [token.value for token in site.argv]
    assert [token.value for token in after.argv] == words[:first] + words[last + 1 :]
    assert text[edit.span.start : edit.span.end].count("#") <= (site.argv[first].place.span.end < edit.span.end and 1)


@settings(max_examples=CASES, deadline=None)
@given(FILES, st.integers(0, 9), st.text(max_size=5))
def test_a_replaced_word_reads_back(text: str, which: int, new: str) -> None:
    (site,) = sites(text)
    if which >= len(site.argv) or (site.argv[which].value or "").startswith("--"):
        return
    edit: Edit | None = site.argv[which].replace(new)
    if edit is None:
        return
    (after,) = sites(apply_edits(text, [edit]))
    assert [token.value for token in after.argv] == [
        new if index == which else token.value for index, token in enumerate(site.argv)
    ]
