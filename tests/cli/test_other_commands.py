from __future__ import annotations

import json

from tests.command import run_cli


def test_version_is_the_packages() -> None:
    run = run_cli("--version")
    assert run.code == 0
    assert run.stdout.startswith("preflight 0.")


def test_a_rule_explains_itself_by_code_and_by_name() -> None:
    by_code, by_name = run_cli("rule", "MEM001"), run_cli("rule", "nonnegative-rest-memory")
    assert by_code.code == 0
    assert by_code.stdout == by_name.stdout
    for word in ("free_before_load", "0.7692", "94.0", "Custom all-reduce buffers are innocent", "raise"):
        assert word in by_code.stdout


def test_an_unknown_rule_is_exit_2_with_a_suggestion() -> None:
    run = run_cli("rule", "nonnegative-rest-memry")
    assert run.code == 2
    assert "nonnegative-rest-memory" in run.stderr


def test_an_unknown_command_is_exit_2() -> None:
    assert run_cli("lnt").code == 2


def test_the_editor_set_up_is_json() -> None:
    run = run_cli("init", "--vscode")
    assert json.loads(run.stdout)["tasks"][0]["args"][0] == "lint"


def test_the_printed_launch_file_lints_clean() -> None:
    text = run_cli("init").stdout
    run = run_cli("lint", "--fail-on", "warning", "-", stdin=text.encode())
    assert (run.code, run.stdout) == (0, "No findings in 1 file with 1 launch.\n")


def test_profiles_are_listed_and_shown() -> None:
    listed = run_cli("profile", "list").stdout.splitlines()
    assert "kimi-k2.5-int4" in listed
    assert "97,887 MiB" in run_cli("profile", "show", "8x-rtx-pro-6000-blackwell").stdout
    assert run_cli("profile", "show", "no-such-thing").code == 2


def test_explain_of_a_missing_file_is_exit_2() -> None:
    run = run_cli("explain", "--format", "json", "gone.toml")
    assert run.code == 2
    assert json.loads(run.stdout) == {"schema_version": 1, "launches": []}
