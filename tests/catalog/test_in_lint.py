"""What lint makes of a release: added by the project, read by somebody, or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflight.catalog.commands import add
from preflight.diagnostics import ERROR, WARNING
from preflight.engines.base import VersionChoice
from preflight.engines.resolve import NO_CONTEXT, choose_version
from preflight.engines.sglang.engine import SGLANG, unread
from preflight.engines.versions import parse_version
from preflight.lint import lint_document
from preflight.readers.launch_file import read
from preflight.text import Document
from tests.catalog.test_commands import made
from tests.command import run_cli


def chosen(version: str) -> VersionChoice:
    (site,) = read(Document("launch.toml", f'engine = "sglang"\nengine-version = "{version}"\n')).sites
    choice, _problem = choose_version(site, SGLANG, NO_CONTEXT)
    return choice


def test_a_release_that_the_project_added_counts_below_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(made(tmp_path, "99.0", "--tp-size-of-tomorrow"), tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "launch.toml").write_text(
        'engine = "sglang"\nengine-version = "99.0"\nflags = { tp-size-of-tomorrow = 2, dtype = "auto" }\n'
    )
    monkeypatch.chdir(tmp_path)
    run = run_cli("lint", "--format", "concise", "deploy")
    assert "VER002" not in run.stdout
    assert "--dtype is gone since 99.0" in run.stdout
    assert "tp-size-of-tomorrow" not in run.stdout
    assert "VER002" in run_cli("lint", "--format", "concise", "--no-config", "deploy").stdout


def chosen_beyond(last_read: str, version: str) -> VersionChoice:
    """The choice where nothing after `last_read` was read."""
    (site,) = read(Document("launch.toml", f'engine = "sglang"\nengine-version = "{version}"\n')).sites
    last = parse_version(last_read)
    engine = SGLANG._replace(read=tuple(one for one in SGLANG.read if last is not None and one <= last))
    return choose_version(site, engine, NO_CONTEXT)[0]


def test_beyond_the_last_read_release_functions_that_nobody_read_cap_what_follows_from_them() -> None:
    assert (chosen("0.5.9").cap, chosen("0.5.9").argument_cap) == (ERROR, ERROR)
    beyond = chosen_beyond("0.5.12.post1", "0.5.13")
    assert (beyond.cap, beyond.argument_cap) == (WARNING, WARNING)
    assert beyond.flag_cap == ERROR  # the flag history knows the release itself
    same = chosen_beyond("0.5.9", "0.5.10.post1")  # read elsewhere, so in a form that was reviewed
    assert (same.cap, same.argument_cap) == (ERROR, ERROR)


def test_between_two_read_releases_each_row_speaks_for_itself() -> None:
    assert (chosen("0.5.13").cap, chosen("0.5.13").argument_cap) == (ERROR, ERROR)


def test_the_mirror_is_not_opened_for_a_release_that_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    unread.cache_clear()

    def fail(*_: object) -> object:
        raise AssertionError("opened")

    monkeypatch.setattr("preflight.catalog.review.load_mirror", fail)
    assert chosen("0.5.9").cap == ERROR
    assert chosen("0.5.13").cap == ERROR
    with pytest.raises(AssertionError, match="opened"):
        chosen_beyond("0.5.12.post1", "0.5.13")


def test_a_refusal_that_holds_on_both_sides_of_a_release_holds_in_it() -> None:
    text = 'engine = "sglang"\nengine-version = "VERSION"\nflags = { tp-size = 3, nnodes = 2, dist-init-addr = "a:1" }\n'
    levels = {}
    for version in ("0.5.12.post1", "0.5.13", "0.5.15.post1"):
        found = lint_document(Document("launch.toml", text.replace("VERSION", version))).diagnostics
        levels[version] = [one.severity.word for one in found if one.rule.code == "PAR001"]
    assert levels == {"0.5.12.post1": ["error"], "0.5.13": ["error"], "0.5.15.post1": ["error"]}
