"""Comments for preflight, in files of any kind."""

from hypothesis import given, settings
from hypothesis import strategies as st

from preflight.diagnostics import ERROR, Diagnostic, Rule
from preflight.launch import LaunchSite
from preflight.readers.launch_file import read
from preflight.suppressions import Comments, names_of, read_comments, suppress, with_context
from preflight.text import Document, apply_edits
from tests.toml import CASES

MEM001 = Rule("MEM001", "nonnegative-rest-memory", ERROR, aliases=("old-name",))
FLG001 = Rule("FLG001", "unknown-flag", ERROR)
KNOWN = names_of([MEM001, FLG001])
SCRIPT = "#!/bin/sh\npython -m x \\\n  --a 1 # preflight: ignore[MEM001] small on purpose\n# preflight: ignore[FLG001]\nrun --b\n"


def comments(text: str) -> Comments:
    return read_comments(Document("run.sh", text))


def diagnostic(document: Document, rule: Rule, start: int) -> Diagnostic:
    return Diagnostic(rule, ERROR, None, "m", document.place(start, start + 1))


def remaining(
    text: str, found: list[tuple[Rule, str]], ran: tuple[str, ...] = ("MEM001", "FLG001")
) -> tuple[list[str], list[str]]:
    document = Document("run.sh", text)
    said = read_comments(document)
    diagnostics = [diagnostic(document, rule, text.index(where)) for rule, where in found]
    kept, problems = suppress(diagnostics, said.suppressions, KNOWN, ran)
    return [one.rule.code for one in kept], [f"{one.code} {one.finding.message}" for one in (*said.problems, *problems)]


def test_a_suppression_hides_its_code_on_its_line_or_the_next() -> None:
    assert remaining(SCRIPT, [(MEM001, "--a"), (FLG001, "run --b")]) == ([], [])
    kept, problems = remaining(SCRIPT, [(FLG001, "--a"), (MEM001, "run --b")])
    assert kept == ["FLG001", "MEM001"]
    assert problems == [
        "CFG007 Nothing is hidden by ignoring MEM001 here. Remove it.",
        "CFG007 Nothing is hidden by ignoring FLG001 here. Remove it.",
    ]


def test_unused_is_said_only_where_the_rule_ran() -> None:
    assert remaining(SCRIPT, [], ran=()) == ([], [])


def test_names_aliases_and_prefixes_mean_the_code() -> None:
    for word in ("nonnegative-rest-memory", "old-name", "MEM"):
        assert remaining(f"a # preflight: ignore[{word}]", [(MEM001, "a")]) == ([], [])
    assert remaining("# preflight: ignore-file[MEM001]\na\nb", [(MEM001, "b")]) == ([], [])


def test_unknown_codes_and_near_misses_are_warnings() -> None:
    assert remaining("a # preflight: ignore[MEN001]", [])[1] == ["CFG009 MEN001 is no code of preflight. Use MEM001."]
    for text, meant in (
        ("#preflight:ignore MEM001", "# preflight: ignore[MEM001]"),
        ("# preflight ignore[MEM001]", "# preflight: ignore[MEM001]"),
        ("# preflight: ignore", "# preflight: ignore[CODE]"),
        ("# preflight: noqa MEM001", "# preflight: ignore[MEM001]"),
        ("# preflight: disable=MEM001,FLG001", "# preflight: ignore[MEM001, FLG001]"),
        ("# Preflight: Ignore[MEM001]", "# preflight: ignore[MEM001]"),
        ("# preflight: ignore_file[MEM001]", "# preflight: ignore-file[MEM001]"),
        ("# preflight: ignore [MEM001]", "# preflight: ignore[MEM001]"),
    ):
        (problem,) = comments(f"a {text}\n").problems
        assert (problem.code, problem.finding.message) == (
            "CFG008",
            f"preflight does not read {text!r}. Write {meant!r}, with the reason behind it.",
        )
    assert remaining("a # preflight: ignore[]", [])[1][0].startswith("CFG008")


def test_prose_about_preflight_is_nobodys_mistake() -> None:
    for text in (
        "# preflight checks: make sure docker runs",
        "# preflight: make sure that docker runs",
        "# Preflight",
        "# run preflight lint here; ignore the rest",
        "# see preflight.toml",
        "echo preflight: ignore this",
        "# preflight: set X=1 before",
    ):
        assert comments(text) == ((), (), ())


def test_an_unused_code_can_be_taken_out() -> None:
    for before, after in (
        ("a # preflight: ignore[MEM001] why\nb", "a\nb"),
        ("  # preflight: ignore[MEM001]\nb\n", "b\n"),
        ("a # preflight: ignore[MEM001, FLG001] why", "a # preflight: ignore[FLG001] why"),
        ("a # preflight: ignore[FLG001,MEM001] why", "a # preflight: ignore[FLG001] why"),
        ("a # note # preflight: ignore[MEM001]\r\nb", "a # note\r\nb"),
    ):
        document = Document("run.sh", before)
        found = [diagnostic(document, FLG001, 0)] if "FLG001" in before else []
        _, problems = suppress(found, read_comments(document).suppressions, KNOWN, ("MEM001",))
        (fix,) = problems[0].finding.fixes
        assert apply_edits(before, fix.edits) == after


def site(text: str, launch: int = 0) -> LaunchSite:
    return read(Document("launch.toml", text)).sites[launch]


def test_comments_say_where_a_launch_runs() -> None:
    said = comments("# preflight: hardware=8x-h200 model=Qwen/Qwen3-8B version=0.5.9\nrun\n")
    assert [(one.key, one.value.value) for one in said.context] == [
        ("hardware", "8x-h200"),
        ("model", "Qwen/Qwen3-8B"),
        ("version", "0.5.9"),
    ]
    inferred = site('engine = "sglang"\nengine-version = "0.5.1"\nhardware.profile = "guessed"\nhardware.count = 8')
    shell = with_context(inferred._replace(kind="shell"), said.context)
    assert shell.version is not None
    assert (shell.version.value, shell.hardware["profile"].value, shell.hardware["count"].value) == ("0.5.9", "8x-h200", 8)


def test_of_several_comments_the_last_above_a_launch_holds() -> None:
    text = (
        '[[launch]]\nengine = "sglang"\n# preflight: version=1\n[[launch]]\nengine = "sglang"\n'
        '# preflight: version=2\n[[launch]]\nengine = "sglang"\n'
    )
    versions = [one.version and one.version.value for one in read(Document("launch.toml", text)).sites]
    assert versions == [None, "1", "2"]


def test_an_unknown_word_of_context_is_a_warning() -> None:
    said = comments("# preflight: hardwre=8x-h200 version=1\n")
    assert [problem.code for problem in said.problems] == ["CFG008"]
    assert [one.key for one in said.context] == ["version"]


@given(st.text("# preflight:ignore[MEM001]\n\r-file=,", max_size=80))
@settings(max_examples=CASES, deadline=None)
def test_no_comment_crashes(text: str) -> None:
    said = comments(text)
    suppress([], said.suppressions, KNOWN, ("MEM001",))
