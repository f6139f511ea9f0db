"""One command for a new release; a change of a mirrored function is noticed."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from preflight.catalog.books import data_folder
from preflight.catalog.commands import add, build, history, mark_reviewed
from preflight.catalog.history import dump_book, feature_releases, flag_releases, make_flag_book, make_variable_book
from preflight.catalog.history import variable_releases as variables_of
from preflight.catalog.load import Catalogue, load
from preflight.catalog.mirror import fingerprint, make_mirror_book, mirror_releases
from preflight.catalog.review import Mirror, load_mirror
from preflight.catalog.variables import load_variables
from tests.catalog.engine import SERVER_ARGS, wheel

BODY = """
    class ServerArgs:
        tp_size: int = 1

        def add_cli_args(parser):
            parser.add_argument("--model-path", required=True)
            parser.add_argument("{flag}", type=int, default=ServerArgs.tp_size)

        def _handle_sizes(self):
            self.tp_size = {value}
"""
ENVIRON = """
    class Envs:
        SGLANG_NEW_THING = EnvBool(True)
"""


def made(folder: Path, version: str, flag: str = "--tp-size", value: str = "2") -> Path:
    body = BODY.replace("{flag}", flag).replace("{value}", value)
    return wheel(folder, version, {SERVER_ARGS: body, "sglang/srt/environ.py": ENVIRON})


def books(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))]


def test_releases_one_by_one_make_what_they_make_together(tmp_path: Path) -> None:
    wheels = [made(tmp_path, "1.0"), made(tmp_path, "1.1", "--tp"), made(tmp_path, "1.2", "--tp", "3")]
    together, singly = tmp_path / "together", tmp_path / "singly"
    together.mkdir()
    singly.mkdir()
    build(wheels, together)
    for each in (wheels[0], wheels[2], wheels[1], wheels[2]):  # the middle one late, the last one twice
        build([each], singly)
    assert books(together) == books(singly)


def test_a_new_release_reports_its_flags_and_what_nobody_has_read(tmp_path: Path) -> None:
    build([made(tmp_path, "1.0")], tmp_path)
    mark_reviewed(["1.0"], tmp_path)
    assert build([made(tmp_path, "1.1")], tmp_path) == ["1.1: 2 spellings, 0 new, 0 gone"]
    assert build([made(tmp_path, "1.2", "--tp", "3")], tmp_path) == [
        "1.2: 2 spellings, 1 new, 1 gone",
        "  new: --tp",
        "  gone: --tp-size",
        "  gone without a successor in sglang_names.py: --tp-size",
        "  mirrored functions in a form that nobody has read: handle_sizes",
    ]


def test_marking_an_unknown_release_as_read_is_refused(tmp_path: Path) -> None:
    build([made(tmp_path, "1.0")], tmp_path)
    with pytest.raises(ValueError, match=r"1\.1"):
        mark_reviewed(["1.1"], tmp_path)


def test_a_bad_wheel_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    build([made(tmp_path, "1.0")], tmp_path)
    before = books(tmp_path)
    bad = wheel(tmp_path, "1.1", {"sglang/__init__.py": ""})
    with pytest.raises(ValueError, match="server_args"):
        build([bad], tmp_path)
    assert books(tmp_path) == before


def test_an_added_release_is_read_beside_the_shipped_ones(tmp_path: Path) -> None:
    path = add(made(tmp_path, "99.0", "--tp-size-of-tomorrow"), tmp_path)
    assert path == tmp_path / ".preflight" / "flags" / "sglang-99.0.json"
    catalogue = load("sglang", tmp_path)
    table = catalogue.at("99.1")
    assert table is not None
    assert (table.release, table.fit) == ("99.0", "newer")
    assert table.match("--tp-size-of-t").kind == "prefix"
    removed = catalogue.history("--dtype")
    assert removed is not None
    assert removed.removed_since == "99.0"
    variables = load_variables("sglang", tmp_path).at("99.0")
    assert variables is not None
    thing = variables.get("SGLANG_NEW_THING")
    assert thing is not None
    assert thing.default is True
    assert load_mirror("sglang", tmp_path).unread("99.0") == ("handle_sizes",)


def test_an_added_release_keeps_the_settings_names(tmp_path: Path) -> None:
    add(made(tmp_path, "99.0", "--tensor-parallel-size"), tmp_path)
    table = load("sglang", tmp_path).at("99.0")
    assert table is not None
    flag = table.flag("tp-size")
    assert flag is not None
    assert flag.spellings == ("--tensor-parallel-size",)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"engine": "sglang", "releases": 1}', "\x00", '{"engine": "sglang"}'])
def test_an_added_file_of_another_form_is_passed_over(tmp_path: Path, text: str) -> None:
    folder = tmp_path / ".preflight" / "flags"
    folder.mkdir(parents=True)
    (folder / "sglang-99.0.json").write_text(text, encoding="utf-8")
    assert load("sglang", tmp_path).releases == load("sglang").releases


def test_an_added_release_that_is_shipped_by_now_is_passed_over(tmp_path: Path) -> None:
    add(made(tmp_path, "0.5.23"), tmp_path)
    assert load("sglang", tmp_path).releases == load("sglang").releases
    table = load("sglang", tmp_path).at("0.5.23")
    assert table is not None
    assert table.match("--dtype").kind == "exact"


def test_the_shipped_books_unfold_and_fold_to_themselves() -> None:
    folder = Path(data_folder())
    flags, variables, mirror = (folder / name for name in ("sglang.json", "sglang-env.json", "sglang-mirror.json"))
    book = json.loads(flags.read_text(encoding="utf-8"))
    assert dump_book(make_flag_book("sglang", flag_releases(book), feature_releases(book))) == flags.read_text(encoding="utf-8")
    text = variables.read_text(encoding="utf-8")
    assert dump_book(make_variable_book("sglang", variables_of(json.loads(text)))) == text
    text = mirror.read_text(encoding="utf-8")
    book = json.loads(text)
    assert dump_book(make_mirror_book("sglang", mirror_releases(book), book["reviewed"])) == text


def test_the_books_hold_the_same_releases() -> None:
    releases = load("sglang").releases
    assert load_variables("sglang").timeline.releases == releases
    assert load_mirror("sglang").timeline.releases == releases


def _function(text: str) -> ast.FunctionDef:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def test_a_fingerprint_is_of_what_the_function_does() -> None:
    plain = fingerprint(_function("def f(a):\n    return a + 1\n"))
    same = fingerprint(_function("def _f(a):\n    '''Says more.'''\n    # a comment\n    return (a +\n        1)\n"))
    other = fingerprint(_function("def f(a):\n    return a + 2\n"))
    assert plain == same != other


def test_no_reviewed_release_has_anything_unread() -> None:
    mirror = load_mirror("sglang")
    assert {version: mirror.unread(version) for version in mirror.reviewed if mirror.unread(version)} == {}
    assert len(mirror.reviewed) == 12


def test_releases_between_reviewed_ones_say_what_is_unread() -> None:
    mirror = load_mirror("sglang")
    assert mirror.unread("0.5.10", "memory") == ()  # the functions are those of 0.5.10.post1
    assert "profile_max_num_token" in mirror.unread("0.5.7", "memory")
    assert mirror.unread("not a version") == ()


def test_history_tells_a_flag_and_a_function() -> None:
    assert history("--cuda-graph-max-bs") == [
        "--cuda-graph-max-bs sets cuda-graph-max-bs",
        "  0.4.0 to before 0.5.20",
        "  deprecated since 0.5.14",
        "  renamed: --cuda-graph-max-bs-decode",
    ]
    forms = [line.split() for line in history("adjust_mem_fraction_for_vlm")]
    assert [form[0] for form in forms] == ["0.4.9.post3", "0.5.1", "0.5.19", "0.5.20"]
    assert history("--no-such-flag-ever") == history("no_such_function") == []


def test_catalogues_need_no_file() -> None:
    assert Catalogue("sglang", [make_flag_book("sglang", {"1.0": []}, {"1.0": []})]).releases == ["1.0"]
    assert Mirror([make_mirror_book("sglang", {"1.0": []}, [])]).names == []
