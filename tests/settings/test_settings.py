"""Project settings: what they say of a file, where they are found, and what is wrong with them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from preflight.diagnostics import ERROR
from preflight.readers.settings_file import read_settings
from preflight.settings import Settings, SettingsLookup, load_settings, matches, shown, unknown_codes
from preflight.text import Document
from tests.toml import CASES


def read(text: str, path: str = "preflight.toml") -> Settings:
    found = read_settings(Document(path, text))
    assert found is not None
    return found


EXAMPLE = """\
engine-version = ">=0.5.9"
ignore = ["VER003"]
exclude = ["vendor", "build/*.toml"]
fail-on = "warning"
hardware = { profile = "8x-h100-80", cuda = "12.8" }
[files."deploy/h200/**"]
hardware = { profile = "8x-h200" }
model = { profile = "deepseek-ai/DeepSeek-V3" }
expect = { context-length = 131_072 }
ignore = ["FLG001"]
[files."*.vllm.sh"]
engine-version = "0.20.0"
[files."deploy/**/special.yaml"]
hardware.profile = "4x-h200"
hardware.memory = "141 GB"
"""


def context(path: str) -> dict[str, object]:
    found = read(EXAMPLE).for_file(path)
    values = {f"{name}.{key}": one.value for name, table in found.tables.items() for key, one in table.items()}
    values["version"] = found.engine_version and found.engine_version.value
    values["ignore"] = [code.value for code in found.ignore]
    return values


def test_later_tables_win_key_by_key() -> None:
    assert context("other.toml") == {
        "hardware.profile": "8x-h100-80",
        "hardware.cuda": "12.8",
        "version": ">=0.5.9",
        "ignore": [],
    }
    assert context("deploy/h200/a/b.yaml") == {
        "hardware.profile": "8x-h200",
        "hardware.cuda": "12.8",
        "model.profile": "deepseek-ai/DeepSeek-V3",
        "expect.context-length": 131072,
        "version": ">=0.5.9",
        "ignore": ["FLG001"],
    }
    special = context("deploy/h200/special.yaml")
    assert (special["hardware.profile"], special["hardware.memory"]) == ("4x-h200", 141 * 10**9)
    assert special["model.profile"] == "deepseek-ai/DeepSeek-V3"
    assert context("a/b/run.vllm.sh")["version"] == "0.20.0"
    assert context("../deploy/h200/x.sh")["hardware.profile"] == "8x-h100-80"


def test_lists_and_choices_are_read_with_their_places() -> None:
    found = read(EXAMPLE)
    assert found.problems == ()
    assert [code.value for code in found.ignore] == ["VER003"]
    assert found.ignore[0].place.span.start == EXAMPLE.index('"VER003"')
    assert found.fail_on is not None
    assert found.fail_on.value == "warning"
    assert [found.excludes(path) for path in ("vendor/a.sh", "x/vendor", "build/a.toml", "build/b/a.toml")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("deploy/**", ["deploy/a", "deploy/a/b"], ["a/deploy/b", "deployed/a"]),
        ("deploy", ["deploy/a", "x/deploy/b", "deploy"], ["deployed"]),
        ("./deploy/", ["deploy/a", "x/deploy/y"], []),
        ("/deploy", ["deploy/a"], ["x/deploy/y"]),
        ("**/x.sh", ["x.sh", "a/b/x.sh"], ["ax.sh"]),
        ("a/**/b", ["a/b", "a/x/y/b"], ["ab"]),
        ("*.sh", ["a.sh", "x/a.sh"], ["a.shx"]),
        ("a/*.sh", ["a/b.sh"], ["a/c/b.sh", "b.sh"]),
        ("a/?.sh", ["a/b.sh"], ["a/bb.sh", "a//.sh"]),
        ("[!ab].sh", ["c.sh"], ["a.sh"]),
        ("[z-a].sh", ["[z-a].sh"], ["z.sh"]),
        ("a.b+(c", ["a.b+(c"], ["axb+(c"]),
    ],
)
def test_patterns_are_those_of_gitignore(pattern: str, hits: list[str], misses: list[str]) -> None:
    assert [path for path in hits if not matches(pattern, path)] == []
    assert [path for path in misses if matches(pattern, path)] == []


@given(st.text("a/*?[]!^-.\\", max_size=12), st.text("a/*?[]!.", max_size=12))
@hypothesis_settings(max_examples=CASES, deadline=None)
def test_no_pattern_crashes(pattern: str, path: str) -> None:
    matches(pattern, path)


def test_a_pyproject_counts_only_with_its_table() -> None:
    assert read_settings(Document("pyproject.toml", '[tool.other]\nname = "preflight"')) is None
    assert read_settings(Document("pyproject.toml", "preflight = [")) is None
    found = read(
        '[project]\nname = "x"\n[tool.preflight]\nengine-version = "0.5.9"\n[tool.preflight.files."a"]\nbad = 1\n',
        "pyproject.toml",
    )
    assert [problem.code for problem in found.problems] == ["CFG002"]
    version = found.for_file("b").engine_version
    assert version is not None
    assert version.value == "0.5.9"
    broken = read("[tool.preflight]\nselect = [", "a/pyproject.toml")
    assert [(one.code, one.finding.severity) for one in broken.problems] == [("CFG001", ERROR)]


def test_mistakes_are_reported_at_their_places() -> None:
    for text, code, place in (
        ("enginge-version = '1'", "CFG002", "enginge-version"),
        ("engine-version = 0.5", "CFG003", "0.5"),
        ("select = [1]", "CFG003", "1"),
        ("fail-on = 'errors'", "CFG010", "'errors'"),
        ("files = 'x'", "CFG003", "'x'"),
        ("[files.'a']\nselect = ['MEM']", "CFG002", "select"),
        ("[files]\na = 1", "CFG003", "1"),
        ("[files.'a'.hardware]\nmemory = 96", "UNT005", "96"),
        ("hardware = 1", "CFG003", "1"),
        ("a = 1\na = 2", "CFG004", "a"),
    ):
        (problem,) = read(text).problems
        span = problem.finding.at.span
        assert (problem.code, text[span.start : span.end]) == (code, place), text


def test_unknown_codes_are_errors_with_a_suggestion() -> None:
    found = read('ignore = ["MEM001", "MEM", "nonnegative-rest-memory", "MEN001"]\n[files.a]\nignore = ["X"]')
    problems = unknown_codes(found, {"MEM001": "MEM001", "nonnegative-rest-memory": "MEM001"})
    assert [(one.code, one.finding.message) for one in problems] == [
        ("CFG009", "MEN001 is no code of preflight. Use MEM001."),
        ("CFG009", "X is no code of preflight. preflight rule lists all codes."),
    ]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_nearest_settings_up_to_the_repository_root_hold(tmp_path: Path) -> None:
    write(tmp_path / "preflight.toml", "ignore = ['OUTSIDE']")
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    write(repository / "pyproject.toml", "[tool.preflight]\nignore = ['ROOT']")
    write(repository / "a" / "pyproject.toml", "[project]\nname = 'preflight'")
    write(repository / "b" / "preflight.toml", "ignore = ['B']")
    write(repository / "b" / "pyproject.toml", "[tool.preflight]\nignore = ['NOT']")
    (tmp_path / "bare" / ".git").mkdir(parents=True)
    lookup = SettingsLookup()

    def found(path: Path) -> list[str] | None:
        settings = lookup.for_path(str(path))
        return None if settings is None else [code.value for code in settings.ignore]

    assert found(repository / "a" / "deep" / "x.sh") == ["ROOT"]
    assert found(repository / "b" / "x.sh") == ["B"]
    assert found(repository / "x.sh") == ["ROOT"]
    assert found(tmp_path / "bare" / "x.sh") is None
    assert found(tmp_path / "x.sh") == ["OUTSIDE"]


def test_settings_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    missing = load_settings(str(tmp_path / "none.toml"))
    (tmp_path / "preflight.toml").write_bytes(b"a = '\xff'")
    latin = load_settings(str(tmp_path / "preflight.toml"))
    for settings in (missing, latin):
        assert settings is not None
        assert [(one.code, one.finding.severity) for one in settings.problems] == [("CFG006", ERROR)]


def test_each_value_is_shown_with_its_origin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path / "preflight.toml", EXAMPLE)
    monkeypatch.chdir(tmp_path)
    settings = SettingsLookup().for_path("deploy/h200/run.sh")
    assert shown(settings, "deploy/h200/run.sh") == [
        ("engine-version", '">=0.5.9"', "preflight.toml:1:18"),
        ("hardware.profile", '"8x-h200"', "preflight.toml:7:24"),
        ("hardware.cuda", '"12.8"', "preflight.toml:5:45"),
        ("model.profile", '"deepseek-ai/DeepSeek-V3"', "preflight.toml:8:21"),
        ("expect.context-length", "131_072", "preflight.toml:9:29"),
        ("ignore", '"VER003"', "preflight.toml:2:11"),
        ("ignore", '"FLG001"', "preflight.toml:10:11"),
        ("exclude", '"vendor"', "preflight.toml:3:12"),
        ("exclude", '"build/*.toml"', "preflight.toml:3:22"),
        ("fail-on", '"warning"', "preflight.toml:4:11"),
    ]


@given(st.one_of(st.text(max_size=60), st.text("a=[]{}.\"'#\n fileshardwe1-", max_size=60)))
@hypothesis_settings(max_examples=CASES, deadline=None)
def test_no_text_crashes_the_settings(text: str) -> None:
    for path in ("preflight.toml", "pyproject.toml"):
        settings = read_settings(Document(path, text))
        if settings is not None:
            shown(settings, "a.sh")
